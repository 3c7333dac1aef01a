"""Errors in declarations and in values.

Every error says where it is, what is wrong and what to do about it, and has a stable code.
"""


class DesignError(Exception):
    """A declaration that can't work. Raised when the design is imported.

    `code` is stable. `place` is the entity and attribute, such as `Post.by_author`.
    """

    def __init__(self, code: str, place: str, problem: str, remedy: str) -> None:
        super().__init__(f"{place}: {problem}. {remedy} [{code}]")
        self.code = code
        self.place = place
        self.problem = problem
        self.remedy = remedy


class InvalidValue(ValueError):
    """A value that can't be stored, or can't be part of a key. Nothing was sent.

    `field` is the entity's field, if there is one. `is_joint` says that a limit on several fields was broken.
    """

    def __init__(
        self, code: str, place: str, problem: str, *, field: str | None = None, is_joint: bool = False
    ) -> None:
        super().__init__(f"{place}: {problem} [{code}]")
        self.code = code
        self.place = place
        self.problem = problem
        self.field = field
        self.is_joint = is_joint
