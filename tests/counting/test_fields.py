"""Declarations of a field are counted under whatever name and in whatever form, and each only once."""

import pytest

from tests.counting.support import again, counts, samples
from tools.counts import per_field


def test_fields_that_are_declared_once() -> None:
    found = counts("")
    assert found.fields.fields == [("Post", "slug"), ("Post", "title"), ("Post", "author_id"), ("Post", "version")]
    assert per_field(found.figures()) == 1


@pytest.mark.parametrize(
    "sample",
    samples("""
    class NewPost(In):
        title: str
    ---
    class PostOut(Out):
        title: Annotated[str, Field(description="What it is called.")]
        html: str
    ---
    class Form(BaseModel):
        title: str = ""
    ---
    class Base(In):
        model_config = {}

    class Form(Base):
        title: str
    ---
    class Titled:
        title: str

    class NewPost(Titled, In):
        pass
    ---
    class Unknown(NotToBeFound):
        title: str
    ---
    class PostOut(Out):
        authorId: str
    ---
    class PostOut(Out, of=Post):
        title = Field(max_length=3)
    ---
    class PostOut(Out, of=Post, fields={"title": (str, ...), "slug": "slug"}):
        pass
    ---
    Made = create_model("Made", __base__=In, title=(str, ...))
    ---
    class Draft(Post):
        title: str
    """),
)
def test_each_class_that_writes_a_field_down_counts(sample: str) -> None:
    assert len(again(sample)) == 1


@pytest.mark.parametrize(
    "sample",
    samples("""
    class PostOut(Out):
        headline: str

        @classmethod
        def of(cls, post: Post):
            return cls(headline=post.title)
    ---
    class PostOut(Out):
        headline: str

    def shown(post: Post):
        return PostOut(headline=post.title or None)
    ---
    class PostOut(Out):
        headline: Annotated[str, Field(validation_alias="title")]
    ---
    class PostOut(Out):
        headline: str = Field(alias="title")
    ---
    class NewPost(In):
        headline: str

    def made(new: NewPost):
        return Post(title=str(new.headline))
    ---
    class NewPost(In):
        headline: str

    def put(post: Post, new: NewPost):
        post.title = new.headline
    ---
    class NewPost(In):
        headline: str

    def put(store, new: NewPost):
        store.put({"title": new.headline})
    """),
)
def test_another_name_for_a_field_is_the_same_field(sample: str) -> None:
    (place,) = again(sample)
    assert place.endswith(".headline")


@pytest.mark.parametrize(
    "sample",
    samples("""
    def head(post: Post):
        return {"author": post.author_id, "made": 1}
    ---
    def head(post: Post | None):
        values = {"author": post.author_id}
        return values
    ---
    def head(post: Post):
        return dict(author=post.author_id)
    ---
    def head(post: Post):
        return Something(**{"author": post.author_id})
    """),
)
def test_a_dict_that_copies_a_field_declares_it(sample: str) -> None:
    assert again(sample) == ["head: author"]


def test_what_is_inherited_or_derived_is_not_counted() -> None:
    found = counts("""
        from keyplan.design import Fields
        from keyplan.web import Change

        class PageFields(Fields):
            body: str
            editor_id: str

        class Page(PageFields, Entity):
            place: str

        class NewPage(PageFields, In):
            publish: bool = False

        class PageOut(PageFields, Out):
            html: str

        class PageChange(Change, of=PageFields):
            pass

        class PageHead(Out, of=Page, fields=("place", "body")):
            longest: ClassVar[int] = 3
    """)
    assert {name for entity, name in found.fields.fields if entity == "Page"} == {"body", "editor_id", "place"}
    assert found.declared_again == []
    assert [place.what for place in found.fields.selections] == ["PageHead: place", "PageHead: body"]


@pytest.mark.parametrize(
    "sample",
    samples("""
    class PostHead(Out, of=Post, fields=("slug", "title")):
        pass
    ---
    class PostHead(Out):
        shows: ClassVar = {"slug", "title"}
    ---
    class PostHead(Out):
        shows = ["slug", "title"]
    ---
    @showing(Post, "slug", "title")
    class PostHead(Out):
        pass
    ---
    PostHead = derived(Post, "slug", but="title")
    """),
)
def test_a_list_of_names_is_a_selection(sample: str) -> None:
    found = counts(sample)
    assert found.declared_again == []
    assert {place.what for place in found.fields.selections} == {"PostHead: slug", "PostHead: title"}


def test_an_entity_may_take_its_fields_from_a_class_beside_its_bases() -> None:
    found = counts("""
        class PageFields(BaseModel):
            body: str

        class Page(Entity, of=PageFields):
            place: str
    """)
    assert {name for entity, name in found.fields.fields if entity == "Page"} == {"body", "place"}
    assert found.declared_again == []


def test_a_field_that_is_inherited_from_an_entity_belongs_to_that_one() -> None:
    found = counts("""
        class Record(Entity):
            made: str

        class Page(Record):
            body: str
    """)
    assert found.fields.fields[4:] == [("Record", "made"), ("Page", "body")]


def test_a_part_of_an_entity_is_no_repetition_of_another_one() -> None:
    sample = """
        class Address(BaseModel):
            title: str

        Addresses = Annotated[list[Address], Field(max_length=3)]

        class Place(Entity):
            addresses: Addresses
    """
    assert again(sample) == []


def test_what_could_hide_a_declaration_is_counted_beside() -> None:
    found = counts("""
        @dataclass
        class Shown:
            title: str
            html: str

        class PostOut(Out):
            length: int

            @classmethod
            def of(cls, post: Post):
                return cls(title=post.title, length=len(post.slug))
    """)
    assert [place.what for place in found.fields.in_records] == ["Shown.title"]
    assert [place.what for place in found.fields.keyword_copies] == ["of: title"]


def test_an_exception_leaves_out_what_it_names_and_no_more() -> None:
    sample = """
        class NewPost(In):
            title: str
            slug: str

        class NewPostForm(In):
            title: str
    """
    found = counts(sample, exceptions={"sample.NewPost.title": "a reason", "sample.Other": "for nothing"})
    assert [place.what for place in found.declared_again] == ["NewPost.slug", "NewPostForm.title"]
    assert found.exceptions_used == {"sample.NewPost.title"}


def test_a_module_that_is_not_there_is_an_error() -> None:
    """Else its classes would be unknown, and what they raise or declare would no longer count."""
    with pytest.raises(ModuleNotFoundError, match="not_there"):
        again("from keyplan.not_there import In as Body\n\nclass NewPost(Body):\n    title: str")
