"""Categories: reading and managing them."""

from collections.abc import Collection

from keyplan.apps.wavyblog.entities import Category
from keyplan.apps.wavyblog.fields import SLUG_LENGTH, UNCATEGORIZED, Slug
from keyplan.apps.wavyblog.models import CategoryChange, CategoryOut, NewCategory
from keyplan.apps.wavyblog.service.accounts import Accounts
from keyplan.apps.wavyblog.upkeep import finish_rename
from keyplan.data import create, delete, update
from keyplan.design import get
from keyplan.web import ANYONE, IfMatch, InConflict, Listing, Paging, Unprocessable, Versions, allow, slug_of

_AT_ONCE = 200
"""How many posts a rename moves before it answers. With more, they are moved in the background."""


class Categories(Accounts):
    """Reading categories, and managing them as an admin."""

    @allow(ANYONE)
    def categories(self, page: Paging) -> Listing[CategoryOut]:
        """All categories, by slug."""
        return self.listed(self.design.categories(), page, CategoryOut.from_fields)

    @allow(ANYONE)
    def category(self, slug: Slug) -> CategoryOut:
        """A category."""
        return CategoryOut.from_fields(self.find(self.design.category(slug)))

    @allow(ANYONE)
    def category_names(self, slugs: Collection[str]) -> dict[str, str]:
        """The names of those categories that exist, by slug."""
        found = self.store.run(self.design.categories_by_slugs(sorted(set(slugs))))
        return {each.slug: each.name for each in found if each is not None}

    @allow("admin")
    def create_category(self, new: NewCategory) -> CategoryOut:
        """Create a category."""
        slug = new.slug or slug_of(new.name, SLUG_LENGTH)
        if not slug:
            raise Unprocessable("no-slug", "This name can't be turned into an address. Enter one.", pointer="/slug")
        return CategoryOut.from_fields(self.store.run(create(Category(slug=slug, name=new.name))))

    @allow("admin")
    def change_category(self, slug: Slug, change: CategoryChange, version: IfMatch) -> CategoryOut:
        """Rename a category. With a new slug its posts move along, which may continue after the response."""
        category = self._latest(slug, version)
        if category.renamed_to is not None:
            raise InConflict("being-renamed", f"This category is being renamed to {category.renamed_to}.")
        new_slug = change.get(lambda category: category.slug, slug)
        name = change.get(lambda category: category.name, category.name)
        if new_slug == slug:
            category.name = name
            return CategoryOut.from_fields(self.save(category))
        if slug == UNCATEGORIZED:
            raise InConflict("always-there", f"The address of {UNCATEGORIZED} can't be changed.")
        _check_not_awaited(category)
        renamed = Category(category_id=category.category_id, slug=new_slug, name=name, created_at=category.created_at)
        category.renamed_to = new_slug
        self.store.transact(create(renamed), update(category))
        if category.post_count <= _AT_ONCE:
            finish_rename(self.running, category)
        return CategoryOut.from_fields(self._latest(new_slug))

    @allow("admin", one_way=True)
    def delete_category(self, slug: Slug, version: IfMatch) -> None:
        """Delete a category that has no posts."""
        category = self._latest(slug, version)
        if slug == UNCATEGORIZED:
            raise InConflict("always-there", f"The category {UNCATEGORIZED} can't be deleted.")
        _check_not_awaited(category)
        self.store.run(delete(category))

    def _latest(self, slug: str, version: Versions = None) -> Category:
        """A category as it is now."""
        return self.find(get(Category, slug=slug, consistent=True), version)


def _check_not_awaited(category: Category) -> None:
    if category.awaited_count:
        raise InConflict("being-renamed", "Another category is being renamed to this one, and its posts are moving.")
