"""Repetitions are counted by their structure: renaming one, or moving it into a helper, changes nothing."""

import pytest

from tests.counting.support import repeated, samples


@pytest.mark.parametrize(
    "sample",
    samples("""
    class Posts(Service):
        def post(self, slug):
            post = self.store.run(slug)
            if post is None or post.version < 0:
                raise Missing(detail="No.")
            return post
    ---
    class Posts(Service):
        def post(self, slug):
            post = self.store.run(slug)
            if not post:
                raise gone()
            return post

    def gone():
        return Missing(detail="Gone.")
    ---
    class Posts(Service):
        def post(self, slug):
            if (post := self.store.run(slug)) is None:
                raise Missing
            return post
    ---
    class Posts(Service):
        def post(self, slug):
            post = self.store.run(slug)
            if post is not None:
                return post
            raise Missing
    ---
    class Posts(Service):
        def post(self, slug):
            post = self.store.run(slug)
            if post is not None:
                post.read = True
            else:
                raise Missing
            return post
    ---
    class Posts(Service):
        def post(self, slug):
            return self.store.run(slug) or refuse()

    def refuse():
        raise Missing
    ---
    class Posts(Service):
        def post(self, slug):
            post = self.store.run(slug)
            return post if post else refuse()

    def refuse():
        raise Missing
    ---
    class Posts(Service):
        def post(self, slug):
            match self.store.run(slug):
                case None:
                    raise Missing
                case post:
                    return post
    ---
    class Posts(Service):
        def post(self, slug):
            try:
                return self.store.run(slug)[0]
            except IndexError:
                raise Missing from None
    ---
    class Posts(Service):
        def post(self, slug):
            return there(self.store.run(slug))

    def there(found):
        if found is None:
            raise Missing
        return found
    ---
    class Posts(Service):
        def post(self, slug):
            return self.listed(slug, self._there)

        def _there(self, found: Post | None):
            if found:
                return found
            raise Missing
    ---
    def there(found):  # nobody calls it
        if found is None:
            raise Missing
    """),
)
def test_find_or_404_counts_in_any_shape(sample: str) -> None:
    assert repeated("find or 404", sample) == 1


def test_each_call_of_a_helper_counts() -> None:
    sample = """
        def insist(it):
            if it is None:
                raise Missing
            return it

        def both(store):
            return insist(store.run(1)), insist(store.run(2))

        def another(store):
            return insist(store.run(3))
    """
    assert repeated("find or 404", sample) == 3


@pytest.mark.parametrize(
    "sample",
    samples("""
    class Posts(Service):
        def post(self, slug, version: IfMatch):
            return self.find(slug, version)
    ---
    class Posts(Service):
        def post(self, slug):
            self.permit(slug == "a", hidden=True)
    ---
    def post(slug):
        if slug is None:
            raise InConflict("a", "b")
    ---
    def post(slug):
        if slug is not None or len(slug) > 3:
            raise Missing
    """),
)
def test_the_verb_of_the_kit_and_other_refusals_are_no_find_or_404(sample: str) -> None:
    assert repeated("find or 404", sample) == 0


@pytest.mark.parametrize("versions", ["IfMatch", "MayMatch", "frozenset[int] | None", "Seen"])
@pytest.mark.parametrize(
    "sample",
    samples("""
    class Posts(Service):
        def change(self, slug, seen: VERSIONS):
            post = self.find(slug)
            self.current(post, seen)
            self.store.run(post)
    ---
    class Posts(Service):
        def change(self, slug, seen: VERSIONS):
            def act():
                post = self.find(slug)
                self.current(post, seen)
                self.store.run(post)

            return self.persist(act)
    ---
    class Posts(Service):
        def change(self, slug, seen: VERSIONS):
            self.store.run(self._checked(self.find(slug), seen))

        def _checked(self, it, those: VERSIONS):
            self.current(it, those)
            return it
    ---
    class Posts(Service):
        def change(self, slug, seen: VERSIONS):
            self.store.run(check(self.find(slug), seen))

    def check(it, those: VERSIONS):
        if it.number in those:
            return it
        raise Stale
    ---
    class Posts(Service):
        def change(self, slug, seen: VERSIONS):
            post = self.find(slug)
            if seen is not None and post.version not in seen:
                raise Stale
            self.store.run(post)
    ---
    class Posts(Service):
        def change(self, slug, seen: VERSIONS):
            post = self.find(slug)
            if seen and not seen & {post.number}:
                raise Stale
            self.store.run(post)
    """),
)
def test_a_version_check_counts_under_any_name(versions: str, sample: str) -> None:
    assert repeated("version checks", sample.replace("VERSIONS", versions)) == 1


@pytest.mark.parametrize(
    "sample",
    samples("""
    class Posts(Service):
        def change(self, slug, seen: IfMatch):
            self.store.run(self.find(slug, seen))
    ---
    class Posts(Service):
        def change(self, slug, seen: IfMatch):
            return self._put(slug, seen)

        def _put(self, slug, seen: IfMatch):
            self.store.run(self.find(slug, seen))
    ---
    def put(store, group):
        store.run(group, where=lambda stored: stored.version == group.version)
    ---
    def put(seen: IfMatch):
        if seen is None:
            raise InConflict("a", "b")
    """),
)
def test_finding_and_checking_at_once_is_no_repetition(sample: str) -> None:
    assert repeated("version checks", sample) == 0


@pytest.mark.parametrize(
    "sample",
    samples("""
    def drop(store):
        try:
            store.run(1)
        except InUse as error:
            raise InConflict("a", "b") from error
    ---
    def drop(store):
        try:
            store.run(1)
        except (KeyError, InUse):
            raise InConflict("a", "b") from None
    ---
    def drop(store):
        try:
            store.run(1)
        except InUse as refused:
            raise why(refused)

    def why(error: InUse):
        return InConflict("a", "b") if error else Missing()
    ---
    def why(error: DataError):  # called by the kit
        if isinstance(error, InUse):
            return InConflict("a", "b")
        return None
    ---
    def why(error):
        match error:
            case InUse():
                return InConflict("a", "b")
    ---
    REFUSED = {InUse: "There are posts in it."}
    ---
    def drop(store):
        with refusing(InUse, InConflict("a", "b")):
            store.run(1)
    ---
    def drop(store):
        with refusing(InUse, Missing):
            store.run(1)
    ---
    def drop(store):
        return refusing(lambda: store.run(1), InUse, lambda: InConflict("a", "b"))
    """),
)
def test_a_translated_refusal_counts_in_any_shape(sample: str) -> None:
    assert repeated("refusals translated", sample) == 1


@pytest.mark.parametrize(
    "sample",
    samples("""
    def drop(store):
        try:
            store.run(1)
        except InUse as error:
            raise error
    ---
    def drop(store):
        try:
            store.run(1)
        except InUse:
            store.note()
            raise
    ---
    def drop(store):
        try:
            store.run(1)
        except InUse:
            return None
    ---
    def read(text):
        try:
            return int(text)
        except ValueError as error:
            raise Missing from error
    ---
    def drop(service):
        return service.persist(service.act, NotFound, Missing)
    """),
)
def test_what_is_not_translated_does_not_count(sample: str) -> None:
    assert repeated("refusals translated", sample) == 0


@pytest.mark.parametrize(
    "sample",
    samples("""
    class PostOut(Out):
        @classmethod
        def of(cls, post: Post):
            '''A post.'''
            return cls.model_validate(post)
    ---
    class PostOut(Out):
        @classmethod
        def seen(cls, it: Post):
            made = cls.model_validate(it)
            return made
    ---
    class PostOut(Out):
        @classmethod
        def of(cls, post: Post):
            return cls(title=post.title, html="")
    ---
    class PostOut(Out):
        @classmethod
        def of(cls, post: Post, html: str):
            return cls.model_validate({**post.model_dump(), "html": html})
    ---
    class PostOut(Out):
        @classmethod
        def of(cls, post: Post):
            return cls(**post.model_dump(exclude={"slug"}))
    ---
    class PostForm(In):
        def change(self):
            return PostForm(title=self.title, html=str(self.html))
    ---
    def shown(post: Post):
        return PostOut.model_validate(post)

    class PostOut(Out):
        pass
    ---
    def head(post: Post):
        return {"title": post.title, "slug": post.slug}
    ---
    def head(post: Post):
        return {name: getattr(post, name) for name in NAMES}
    ---
    class PostOut(Out):
        pass

    shown = lambda post: PostOut.model_validate(post)
    ---
    class PostOut(Out):
        pass

    def listed(service):
        return service.listed(lambda post: PostOut(title=post.title))
    """),
)
def test_a_function_that_only_copies_counts_under_any_name(sample: str) -> None:
    assert repeated("only copies", sample) == 1


def test_a_function_that_copies_through_another_one_counts_too() -> None:
    sample = """
        class PostOut(Out):
            pass

        def head(post: Post):
            return {"title": post.title}

        def shown(post: Post, html: str):
            return PostOut(**head(post), html=html)
    """
    assert repeated("only copies", sample) == 2


@pytest.mark.parametrize(
    "sample",
    samples("""
    class PostOut(Out):
        @classmethod
        def of(cls, post: Post):
            return cls(title=post.title, html=rendered(post.content))
    ---
    class PostOut(Out):
        @classmethod
        def of(cls, post: Post, mine: bool):
            shown = cls.model_validate(post)
            return shown if mine else None
    ---
    class PostOut(Out):
        @classmethod
        def made(cls, title: str):
            return cls(title=title)
    ---
    class PostOut(Out):
        @classmethod
        def answer(cls, service, slug):
            return cls.model_validate(service.store.run(slug))
    ---
    class Page(Entity):
        def copy(self):
            return Page(slug=self.slug)
    """),
)
def test_a_function_that_does_more_than_copy_does_not_count(sample: str) -> None:
    assert repeated("only copies", sample) == 0


@pytest.mark.parametrize(
    "sample",
    samples("""
    def change(change):
        if change.title is None:
            raise Unprocessable("required", "A post has one.", pointer="/title")
    ---
    def change(change):
        if change.title is None:
            raise Unprocessable("no-title", "The title is required.")
    ---
    def change(change):
        if not change.title:
            raise empty()

    def empty():
        return Unprocessable("empty", "The title cannot be left empty.")
    ---
    def put(store, change):
        needed(change, "title")
        store.run(change)

    def needed(change, *names):
        for name in names:
            if getattr(change, name) is None:
                raise Unprocessable("required", "It has to be there.", pointer=name)
    """),
)
def test_required_by_hand_counts_where_it_is_said(sample: str) -> None:
    assert repeated('"required" by hand', sample) == 1


def test_other_errors_about_values_are_not_required() -> None:
    sample = """
        def change(change):
            if len(change.title) > 200:
                raise Unprocessable("too-long", "Use at most 200 characters.")
            raise InConflict("required", "Something else is required first.")
    """
    assert repeated('"required" by hand', sample) == 0
