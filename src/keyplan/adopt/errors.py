"""Why a table can't be adopted."""


class AdoptError(Exception):
    """A table, a file or an answer that can't be used. `code` is stable; the message says where and what to do."""

    def __init__(self, code: str, place: str, problem: str, remedy: str) -> None:
        super().__init__(f"{place}: {problem}. {remedy} [{code}]")
        self.code = code
        self.place = place
        self.problem = problem
        self.remedy = remedy
