"""Files that people upload: pictures, in a folder or in an S3 bucket.

`Media` is what a service sees, and it is the same for both stores. An upload takes three steps. The service **asks**:
the client gets a `Ticket`, a presigned POST as S3 has it, for one file of one type up to a size. The client **sends**
the file there, as a form. The service **confirms**: size and real type are looked up in the bytes, and the file becomes
permanent under a name that nobody can guess. What is sent lands in a place of its own that nobody is served from, so
that a ticket is worth nothing once its upload is confirmed; what is never confirmed is swept.

`uploads` has `Media`, `names` and `kinds` say what a file is called and which types there are, `routes` and `receive`
are its HTTP. Behind it is one small port in `objects`, with two stores: `disk` (the default; `policy` signs its forms
with the `secret` of the system) and `s3`; `stores` chooses. It knows `models` and the settings.
"""

from keyplan.web.media.disk import DiskObjects
from keyplan.web.media.kinds import HEAD_BYTES, IMAGES, Kind, kind_of
from keyplan.web.media.objects import File, Objects, Post, Received
from keyplan.web.media.routes import media_routes
from keyplan.web.media.s3 import S3Objects
from keyplan.web.media.stores import media_of
from keyplan.web.media.uploads import Checked, Media, Ticket, Upload

__all__ = [
    "HEAD_BYTES",
    "IMAGES",
    "Checked",
    "DiskObjects",
    "File",
    "Kind",
    "Media",
    "Objects",
    "Post",
    "Received",
    "S3Objects",
    "Ticket",
    "Upload",
    "kind_of",
    "media_of",
    "media_routes",
]
