"""Names and titles with hidden characters, or in two forms of Unicode: in the API and in forms."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from keyplan.apps.wavyblog.entities import Post
from keyplan.design import get
from tests.apps.wavyblog_pages_support import POST, Served, blog, hidden, problems_of, settings_in

REVERSED = "evil \u202etxt.exe"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with blog(settings_in(tmp_path)) as started:
        yield started


def _stored(served: Served, slug: str) -> Post:
    post = served.site.running.store.run(get(Post, slug=slug))
    assert post is not None
    return post


def _with_old_title(served: Served, title: str) -> None:
    """The title of a post as it could be stored before."""
    keys = {"PK": {"S": f"POST#{POST}"}, "SK": {"S": f"METADATA#{POST}"}}
    served.site.engine.update_item(
        TableName="WavyBlog",
        Key=keys,
        UpdateExpression="SET Title = :title",
        ExpressionAttributeValues={":title": {"S": title}},
        ConditionExpression="attribute_exists(PK)",
    )


def _save(served: Served, **typed: str) -> httpx.Response:
    anna = served.as_("anna")
    page = anna.get(f"/posts/{POST}/edit")
    post = _stored(served, POST)
    fields = {"title": post.title, "category": post.category, "content": post.content, "version": str(post.version)}
    return anna.post(f"/posts/{POST}/edit", {"csrf": hidden(page, "csrf"), **fields, **typed})


def test_a_title_is_stored_in_the_composed_form(served: Served) -> None:
    answer = served.as_("anna").send("/write", title="Cafe\u0301", content="Hello", category="uncategorized")
    assert answer.status_code == 303, answer.text
    assert _stored(served, "cafe").title == "Café"


@pytest.mark.parametrize("title", [REVERSED, "a\u200bb", "\u2066a", "x\u200d"])
def test_a_title_with_hidden_characters_is_refused_beside_the_field(served: Served, title: str) -> None:
    answer = served.as_("anna").send("/write", title=title, content="Hello", category="uncategorized")
    assert answer.status_code == 422
    (problem,) = problems_of(answer)
    assert problem.startswith("This contains invisible characters (U+")
    assert "Hello" in answer.text


def test_a_stored_title_stays_until_somebody_changes_it(served: Served) -> None:
    _with_old_title(served, REVERSED)
    saved = _save(served, content="Other words")
    assert saved.status_code == 303, problems_of(saved)
    assert (_stored(served, POST).title, _stored(served, POST).content) == (REVERSED, "Other words")

    refused = _save(served, title=f"{REVERSED}!")
    assert refused.status_code == 422
    assert problems_of(refused) == [
        "This contains invisible characters (U+202E). Type it again, or paste it as plain text."
    ]

    assert _save(served, title="Good words").status_code == 303
    assert _stored(served, "good-words").title == "Good words"
