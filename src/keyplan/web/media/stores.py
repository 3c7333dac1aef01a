"""Chooses the store of a system's files by the settings."""

from functools import cache
from typing import Any

from botocore.config import Config

from keyplan.data import Store
from keyplan.web.media.decoder import decoder_of
from keyplan.web.media.disk import DiskObjects
from keyplan.web.media.hosts import PictureHosts
from keyplan.web.media.objects import Objects
from keyplan.web.media.quotas import Quota
from keyplan.web.media.s3 import S3Client, S3Objects
from keyplan.web.media.secret import KeptSecret
from keyplan.web.media.uploads import Media
from keyplan.web.settings import Settings


def media_of(system: str, settings: Settings, store: Store[Any]) -> Media:
    """The files of a system: in the bucket of the settings, or else in a folder."""
    base_url = (settings.base_url or "").rstrip("/")
    secret = KeptSecret(store)
    objects: Objects
    if settings.media_bucket is not None:
        client = _client(settings.media_endpoint_url)
        objects = S3Objects(client, settings.media_bucket, system, clock=store.clock)
    else:
        objects = DiskObjects(
            settings.media_folder,
            system,
            secret=secret,
            clock=store.clock,
            post_url=f"{base_url}/media/upload",
        )
    hosts = PictureHosts(base_url, tuple(settings.image_hosts))
    quota = Quota(settings.upload_pending, settings.upload_pending_bytes, settings.upload_kept_bytes)
    decoder = decoder_of(settings.workers, settings.picture_megapixels)
    return Media(system, objects, store, secret=secret, hosts=hosts, decoder=decoder, quota=quota)


@cache
def _client(endpoint_url: str | None) -> S3Client:
    """One client for all systems: it is slow to create, and threads can share it."""
    import boto3  # here, because it loads slowly and most servers have no bucket

    own: dict[str, Any] = {} if endpoint_url is None else {"request_checksum_calculation": "when_required"}
    config = Config(
        signature_version="s3v4",
        # Forms must name the bucket's own region, which only this style does; most other servers know paths only.
        s3={"addressing_style": "virtual" if endpoint_url is None else "path"},
        retries={"mode": "standard", "max_attempts": 3},
        connect_timeout=5,
        read_timeout=20,
        **own,
    )
    client: S3Client = boto3.client("s3", endpoint_url=endpoint_url, config=config)
    return client
