"""Files that people upload: pictures, in a folder or in an S3 bucket.

Services use `Media`, which is the same for both stores. An upload takes three steps. The service **asks**: the client
gets a `Ticket`, a presigned POST as in S3, for one file of one type up to a size. The client **sends** the file there,
as a form. The service **confirms**: it checks the size and the bytes, and the file becomes permanent under a name that
nobody can guess. Files are sent to a separate place that isn't served, so a ticket is useless once its upload is
confirmed. What is never confirmed is deleted.

`uploads` has `Media`; `names` makes the names of files, `kinds` knows their types, `quotas` how much a person may
upload, `hosts` whose pictures pages show; `decoder` has pictures decoded by `decoding`, a process of its own; `routes`
and `receive` are the HTTP routes. `objects` has the interface of a store, and there are two: `disk` (the default;
`policy` signs its forms with the `secret` of the system) and `s3`. `stores` chooses one. It knows `models` and the
settings.
"""

from keyplan.web.media.disk import DiskObjects
from keyplan.web.media.hosts import PictureHosts
from keyplan.web.media.kinds import HEAD_BYTES, IMAGES, Kind, kind_of
from keyplan.web.media.objects import File, Objects, Post, Received
from keyplan.web.media.quotas import Quota
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
    "PictureHosts",
    "Post",
    "Quota",
    "Received",
    "S3Objects",
    "Ticket",
    "Upload",
    "kind_of",
    "media_of",
    "media_routes",
]
