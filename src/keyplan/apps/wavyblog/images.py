"""WavyBlog's images: an author's own, with the files that they are of."""

from contextlib import suppress

from keyplan.apps.wavyblog.accounts import Accounts
from keyplan.apps.wavyblog.design import Image, Leftover, image_type
from keyplan.apps.wavyblog.models import ImageId, ImageOut, NewImage, SentImage
from keyplan.apps.wavyblog.upkeep import sweep_files
from keyplan.data import AlreadyExists, ConditionFailed, create, delete
from keyplan.web import InConflict, Listing, Missing, Paging, allow
from keyplan.web.media import Ticket


class Images(Accounts):
    """Sending images, and what one has sent."""

    @allow("user")
    def upload_image(self, new: NewImage) -> Ticket:
        """Ask for an upload. Send the file as the answer says, then add it."""
        return self.media.ask(new.content_type, purpose=self._purpose, max_bytes=new.size, under=["images"])

    @property
    def _purpose(self) -> str:
        return f"image of {self.user.username}"

    @allow("user")
    def add_image(self, sent: SentImage) -> ImageOut:
        """Add an image that was sent."""
        checked = self.media.check(sent.upload_id, purpose=self._purpose)
        file = checked.file
        image = Image(
            username=self.user.username,
            file=file.name,
            content_type=image_type.validate_python(file.content_type),
            size=file.size,
        )
        try:
            self.store.transact(create(image), checked.keep)
        except ConditionFailed as error:
            raise InConflict("added-already", "This upload was added already, or is over.") from error
        return self._image(image)

    @allow("user")
    def images(self, page: Paging) -> Listing[ImageOut]:
        """One's own images, the newest first."""
        return self.listed(self.design.images_by_user(self.user.username), page, self._image)

    @allow("user")
    def image(self, image_id: ImageId) -> ImageOut:
        """An image of one's own."""
        return self._image(self._own(image_id))

    @allow("user")
    def delete_image(self, image_id: ImageId) -> None:
        """Delete an image of one's own."""
        image = self._own(image_id)
        self._note_leftover(image)
        self.store.run(delete(image))
        sweep_files(self.running)

    def _own(self, image_id: str) -> Image:
        image = self.store.run(self.design.image(self.user.username, image_id))
        if image is None:
            raise Missing(detail="There is no such image.")
        return image

    def _image(self, image: Image) -> ImageOut:
        return ImageOut.of(image, self.media.url(image.file))

    def _note_leftover(self, image: Image) -> None:
        with suppress(AlreadyExists):
            self.store.run(create(Leftover(username=image.username, image_id=image.image_id, file=image.file)))
