"""The button that ends an upload before its file is added."""

from typing import Annotated, Any

from pydantic import StringConstraints
from starlette.responses import Response

from keyplan.web.models.bodies import In
from keyplan.web.models.problems import Unauthorized
from keyplan.web.pages.rendering import Site
from keyplan.web.pages.views import View
from keyplan.web.system.page_routes import PageRoute

PATH = "/cancel-upload"


class CanceledUpload(In):
    """An upload, and the page to continue with."""

    upload_id: Annotated[str, StringConstraints(max_length=128)]
    to: Annotated[str, StringConstraints(max_length=4096)] = ""


def upload_pages(site: Site) -> list[PageRoute]:
    """What the button takes. An upload that is ended no longer counts for the quota of the person."""

    def cancel(view: View[Any], which: CanceledUpload) -> Response:
        if view.caller is None:
            raise Unauthorized
        site.running.media.cancel(which.upload_id, owner=view.caller.sub)
        return view.redirect_to(site.local(which.to), notice="Upload canceled")

    return [PageRoute("POST", PATH, cancel, once=False)]
