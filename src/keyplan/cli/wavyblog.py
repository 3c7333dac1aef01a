"""`keyplan wavyblog`: administering WavyBlog."""

from typing import Annotated

import typer

from keyplan.cli.opening import DataFile, EndpointUrl, OnAws, fail, settings_from

wavyblog = typer.Typer(name="wavyblog", help="Administer WavyBlog.", no_args_is_help=True)


@wavyblog.callback()
def _wavyblog() -> None:
    """Administer WavyBlog."""


@wavyblog.command()
def make_admin(
    name: Annotated[str, typer.Argument(help="The username.", show_default=False)],
    path: DataFile = None,
    endpoint_url: EndpointUrl = None,
    aws: OnAws = None,
) -> None:
    """Make a user an admin. Admins can then make others admins in the blog."""
    from keyplan.cli.serve import running_systems
    from keyplan.data import DataError, update
    from keyplan.design import InvalidValue

    settings = settings_from({"path": path, "endpoint_url": endpoint_url, "aws": aws, "systems": ["wavyblog"]})
    with running_systems(settings, create=False) as ((blog,), _):
        try:
            user = blog.store.run(blog.design.user(name))
        except InvalidValue:
            user = None  # no user can have this name
        if user is None:
            fail(f'User "{name}" not found. Register the account first.', 1)
        user.role = "admin"
        try:
            blog.store.run(update(user))
        except DataError as error:
            fail(f"Can't make {name} an admin: {error}", 1)
    typer.echo(f"{name} is now an admin.")
