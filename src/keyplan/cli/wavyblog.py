"""`keyplan wavyblog`: what of WavyBlog is done by whoever runs it."""

from pathlib import Path
from typing import Annotated

import typer

from keyplan.cli.opening import fail

wavyblog = typer.Typer(name="wavyblog", help="What of WavyBlog is done by whoever runs it.", no_args_is_help=True)


@wavyblog.callback()
def _wavyblog() -> None:
    """What of WavyBlog is done by whoever runs it."""


@wavyblog.command()
def make_admin(
    name: Annotated[str, typer.Argument(help="The username.", show_default=False)],
    path: Annotated[Path | None, typer.Option(help="File with the data.", metavar="FILE")] = None,
    endpoint_url: Annotated[
        str | None, typer.Option(help="DynamoDB endpoint to use instead of a file.", metavar="URL")
    ] = None,
    aws: Annotated[
        bool, typer.Option("--aws", help="Use DynamoDB on AWS, by AWS's usual variables, instead of a file.")
    ] = False,
) -> None:
    """Make a user an admin: the first one, who can then make others."""
    from keyplan.cli.serve import running_systems, settings_from
    from keyplan.data import DataError, update
    from keyplan.design import InvalidValue

    given = {"path": path, "endpoint_url": endpoint_url, "aws": aws or None, "systems": ["wavyblog"]}
    settings = settings_from({name: value for name, value in given.items() if value is not None})
    with running_systems(settings, make=False) as ((blog,), _):
        try:
            user = blog.store.run(blog.design.user(name))
        except InvalidValue:
            user = None  # nobody can have such a name
        if user is None:
            fail(f"There is no user {name}. Register first.", 1)
        user.role = "admin"
        try:
            blog.store.run(update(user))
        except DataError as error:
            fail(f"Can not make {name} an admin: {error}", 1)
    typer.echo(f"{name} is an admin.")
