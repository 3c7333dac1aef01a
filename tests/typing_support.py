"""A small declaration for the snippets about types."""

from typing import Annotated

from keyplan.design import READ_ONLY, Entity, Fields, Id, Table, Version, key
from keyplan.web import Change, In, Out

table = Table("Posts", key("PK", "SK"))


class PostFields(Fields):
    """What callers set."""

    title: str
    stars: int = 0


class PostShown(PostFields):
    """What callers see."""

    slug: Annotated[Id, READ_ONLY]
    version: Version = 0


class Post(PostShown, Entity, table=table):
    """What is stored."""

    primary = key("POST#{slug}", "POST")


class Other(Fields):
    """Something else."""

    name: str


class NewPost(PostFields, In):
    """The body for creating one."""

    publish: bool = False


class PostChange(Change[PostFields]):
    """A partial change."""


class PostOut(PostShown, Out):
    """An answer."""

    html: str
