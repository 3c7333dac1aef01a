"""Media, news and events."""

from typing import Annotated

from pydantic import Field, JsonValue, StringConstraints

from keyplan.apps.vcm.entities import Media
from keyplan.apps.vcm.models.base import MOST_IMAGE, Authors, Document, Excerpt, Moment, Short, Shown, Taken
from keyplan.apps.vcm.values import Address, Images, Status, Title
from keyplan.web import In, Time
from keyplan.web.media import Ticket

# Media


class NewUpload(Taken):
    """An image to be uploaded."""

    content_type: str
    size: Annotated[int, Field(ge=1, le=MOST_IMAGE)]


class UploadTicket(Ticket, Shown):
    """How to send an image: POST `fields`, in any order, and then the field `file`, as multipart/form-data."""


class NewMedia(Taken):
    """An image that was uploaded, to be kept."""

    upload_id: Annotated[str, StringConstraints(max_length=200)]
    alt: Excerpt | None = None


class MediaChange(Taken):
    """Another alternative text."""

    alt: Excerpt | None = None


class ImageOut(Shown):
    """A media item, as far as it is needed to show it."""

    id: str
    url: str
    alt: str | None

    @classmethod
    def of(cls, media: Media) -> "ImageOut":
        return cls.model_validate(media)


class MediaOut(ImageOut):
    """A media item."""

    filename: str
    created_at: Time
    updated_at: Time
    references: Annotated[int, Field(description="How many things use it.")]
    version: int

    @classmethod
    def of(cls, media: Media) -> "MediaOut":
        return cls.model_validate(media)


class MediaFound(Shown):
    """Media items, in the order in which they were asked for; what is not there is left out."""

    items: list[ImageOut]


# News


class NewNews(Taken):
    """An article. Its slug is made of its title, and its excerpt of its content unless it is given."""

    title: Title
    content: Document
    excerpt: Excerpt = ""
    published_date: Annotated[Moment | None, Field(description="When it may be read; now, if not given.")] = None
    author_ids: Authors | None = None
    image_ids: Images = Field(default_factory=list)
    publish: bool = False


class NewsChange(Taken):
    """What is to be changed of an article; what is not named stays. Another title gives another slug."""

    title: Title | None = None
    content: Document | None = None
    excerpt: Excerpt | None = None
    published_date: Moment | None = None
    author_ids: Authors | None = None
    image_ids: Images | None = None


class NewsSummary(Shown):
    """An article in a list."""

    id: str
    title: str
    slug: str
    excerpt: str
    published_date: Time
    status: Status
    image_ids: list[str]
    image: Annotated[ImageOut | None, Field(description="The first of its images.")] = None
    version: int


class NewsOut(NewsSummary):
    """An article."""

    content: Annotated[dict[str, JsonValue], Field(description="Tiptap JSON.")]
    html: Annotated[str, Field(description="The content as safe HTML.")]
    images: list[ImageOut]
    author_ids: Annotated[list[str] | None, Field(description="For editors only.")] = None
    created_at: Time
    updated_at: Time


# Events


class AddressIn(In):
    """Where an event is."""

    name: Short | None = None
    street: Short | None = None
    postalCode: Short | None = None  # noqa: N815 - as it is stored
    city: Short | None = None


class NewEvent(Taken):
    """An event. It lasts 31 days at most."""

    title: Title
    description: Document | None = None
    start_date: Moment
    end_date: Moment | None = None
    address: AddressIn | None = None
    author_ids: Authors | None = None
    image_ids: Images = Field(default_factory=list)
    publish: bool = False


class EventChange(Taken):
    """What is to be changed of an event; what is not named stays. Another title gives another slug."""

    title: Title | None = None
    description: Document | None = None
    start_date: Moment | None = None
    end_date: Moment | None = None
    address: AddressIn | None = None
    author_ids: Authors | None = None
    image_ids: Images | None = None


class EventSummary(Shown):
    """An event in a list."""

    id: str
    title: str
    slug: str
    start_date: Time
    end_date: Time | None
    address: Address | None
    status: Status
    image_ids: list[str]
    image: Annotated[ImageOut | None, Field(description="The first of its images.")] = None
    updated_at: Time
    version: int


class EventOut(EventSummary):
    """An event."""

    description: Annotated[dict[str, JsonValue] | None, Field(description="Tiptap JSON.")]
    html: Annotated[str, Field(description="The description as safe HTML.")]
    images: list[ImageOut]
    author_ids: Annotated[list[str] | None, Field(description="For editors only.")] = None
    created_at: Time
