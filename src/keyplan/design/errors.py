"""What is wrong with a declaration, or with a value for a key.

Every error names where it is, what is wrong and what to do about it, and has a code that stays the same.
"""


class DesignError(Exception):
    """A declaration that can not work; raised when the design is imported.

    `code` is stable; `place` names entity and attribute (`Post.by_author`).
    """

    def __init__(self, code: str, place: str, problem: str, remedy: str) -> None:
        super().__init__(f"{place}: {problem}. {remedy} [{code}]")
        self.code = code
        self.place = place
        self.problem = problem
        self.remedy = remedy


class InvalidValue(ValueError):
    """A value that can not be stored or put into a key; nothing was sent.

    `field` names the entity's field where there is one.
    """

    def __init__(self, code: str, place: str, problem: str, *, field: str | None = None) -> None:
        super().__init__(f"{place}: {problem} [{code}]")
        self.code = code
        self.place = place
        self.problem = problem
        self.field = field
