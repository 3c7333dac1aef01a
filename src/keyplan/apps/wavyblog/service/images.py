"""An author's images, with their files."""

from contextlib import suppress

from keyplan.apps.wavyblog.entities import Image, Leftover
from keyplan.apps.wavyblog.fields import ImageId, image_type
from keyplan.apps.wavyblog.models import ImageOut, NewImage, SentImage
from keyplan.apps.wavyblog.service.accounts import Accounts
from keyplan.apps.wavyblog.upkeep import sweep_files
from keyplan.data import AlreadyExists, create, delete
from keyplan.web import Listing, Paging, allow
from keyplan.web.media import Ticket


class Images(Accounts):
    """Uploading images, and those that were uploaded."""

    @allow("user")
    def upload_image(self, new: NewImage) -> Ticket:
        """Request an upload. Send the file as the answer says, then add the image.

        Refused with `upload-quota` if too many uploads are unfinished, or your images have too many bytes: delete some.
        """
        owner = self.user.username
        return self.media.ask(
            new.content_type, owner=owner, purpose=self._purpose, max_bytes=new.size, under=["images"]
        )

    @property
    def _purpose(self) -> str:
        return f"image of {self.user.username}"

    @allow("user")
    def add_image(self, sent: SentImage) -> ImageOut:
        """Add an image that was uploaded."""
        checked = self.media.check(sent.upload_id, purpose=self._purpose)
        file = checked.file
        image = Image(
            username=self.user.username,
            file=file.name,
            content_type=image_type.validate_python(file.content_type),
            size=file.size,
        )
        self.store.transact(create(image), *checked.keep)
        return self._image(image)

    @allow("user")
    def images(self, page: Paging) -> Listing[ImageOut]:
        """Your images, newest first."""
        return self.listed(self.design.images_by_user(self.user.username), page, self._image)

    @allow("user")
    def image(self, image_id: ImageId) -> ImageOut:
        """One of your images."""
        return self._image(self._own(image_id))

    @allow("user", one_way=True)
    def delete_image(self, image_id: ImageId) -> None:
        """Delete one of your images."""
        image = self._own(image_id)
        self._note_leftover(image)
        self.store.run(delete(image))
        sweep_files(self.running)

    def _own(self, image_id: str) -> Image:
        return self.find(self.design.image(self.user.username, image_id))

    def _image(self, image: Image) -> ImageOut:
        return ImageOut.from_fields(image, url=self.media.url(image.file))

    def _note_leftover(self, image: Image) -> None:
        with suppress(AlreadyExists):
            self.store.run(create(Leftover(username=image.username, image_id=image.image_id, file=image.file)))
