"""Rich text: the schema, HTML, Markdown in both directions, and conversion from Lexical."""

# ruff: noqa: E501 - documents read best on one line

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keyplan.apps.vcm.html import html_of
from keyplan.apps.vcm.markdown import from_markdown, to_markdown
from keyplan.apps.vcm.payload.lexical import Conversion
from keyplan.apps.vcm.richtext import BadDocument, checked, excerpt, images_in, nodes_in, plain_text
from keyplan.apps.vcm.slugs import slug_of
from keyplan.web.media import PictureHosts
from tests.apps.vcm_export import bullets, item, link, node, picture, rich
from tests.apps.vcm_export import text as lexical_text

Json = dict[str, Any]


def text(words: str, *marks: str) -> Json:
    return {"type": "text", "text": words} | ({"marks": [{"type": each} for each in marks]} if marks else {})


def para(*content: Json) -> Json:
    return {"type": "paragraph", "content": list(content)} if content else {"type": "paragraph"}


def doc(*content: Json) -> Json:
    return {"type": "doc", "content": list(content)}


@pytest.mark.parametrize(
    ("document", "where"),
    [
        ({}, "/type"),
        ({"type": "paragraph"}, "/type"),
        (doc({"type": "iframe"}), "/content/0/type"),
        (doc(text("x")), "/content/0/type"),
        (doc({"type": "paragraph", "content": "x"}), "/content/0/content"),
        (doc(para(text(""))), "/content/0/content/0/text"),
        (doc(para(text("x", "glow"))), "/content/0/content/0/marks/0"),
        (doc(para({"type": "text", "text": "x", "onclick": "y"})), "/content/0/content/0/onclick"),
        (doc({"type": "heading", "attrs": {"level": 7}}), "/content/0/attrs/level"),
        (doc({"type": "heading"}), "/content/0/attrs/level"),
        (doc({"type": "paragraph", "attrs": {"style": "x"}}), "/content/0/attrs/style"),
        (doc({"type": "image", "attrs": {"src": "https://example.org/x.png"}}), "/content/0/attrs/mediaId"),
        (doc({"type": "image", "attrs": {"mediaId": "a#b"}}), "/content/0/attrs/mediaId"),
        (doc({"type": "bulletList", "content": [para()]}), "/content/0/content/0/type"),
        (doc({"type": "bulletList"}), "/content/0/content"),
        (doc({"type": "codeBlock", "content": [text("x", "bold")]}), "/content/0/content"),
        (doc({"type": "horizontalRule", "content": [para()]}), "/content/0/content"),
        (doc({"type": "paragraph", "marks": [{"type": "bold"}]}), "/content/0/marks"),
        (doc(para({"type": "hardBreak", "marks": [{"type": "glow"}]})), "/content/0/content/0/marks/0"),
        (doc(para({"type": "hardBreak", "marks": "bold"})), "/content/0/content/0/marks"),
        (doc([]), "/content/0"),  # type: ignore[arg-type]  # what the test is about
    ],
    ids=str,
)
def test_what_the_schema_does_not_allow(document: Json, where: str) -> None:
    with pytest.raises(BadDocument) as refused:
        checked(document)
    assert refused.value.pointer == where


@pytest.mark.parametrize(
    "href", ["javascript:alert(1)", "data:text/html,x", "//example.org", "/intern", "https://a b", ""]
)
def test_links_lead_to_the_web_or_a_mailbox(href: str) -> None:
    mark = {"type": "link", "attrs": {"href": href}}
    with pytest.raises(BadDocument):
        checked(doc(para({"type": "text", "text": "x", "marks": [mark]})))


def test_what_an_editor_sends_along_is_not_stored() -> None:
    mark = {"type": "link", "attrs": {"href": "https://example.org", "target": "_blank", "rel": "x", "class": None}}
    sent = doc(
        {"type": "paragraph", "attrs": None, "content": [{"type": "text", "text": "a", "marks": [mark]}, text("b")]},
        {
            "type": "orderedList",
            "attrs": {"start": 1, "type": None},
            "content": [{"type": "listItem", "content": [para()]}],
        },
        {
            "type": "image",
            "attrs": {"mediaId": "m", "src": "/x", "alt": None, "title": None, "width": 3, "height": None},
        },
    )
    stored = checked(sent)
    assert checked(stored) == stored
    assert stored == doc(
        para(
            {"type": "text", "text": "a", "marks": [{"type": "link", "attrs": {"href": "https://example.org"}}]},
            text("b"),
        ),
        {"type": "orderedList", "attrs": {"start": 1}, "content": [{"type": "listItem", "content": [para()]}]},
        {"type": "image", "attrs": {"mediaId": "m"}},
    )
    bold_break = {"type": "hardBreak", "marks": [{"type": "bold"}]}
    assert checked(doc(para(text("a", "bold"), bold_break))) == doc(para(text("a", "bold"), {"type": "hardBreak"}))
    assert checked({"type": "doc"}) == doc(para())
    assert checked(doc(para(text("a"), text("b")))) == doc(para(text("ab")))


def test_html_holds_nothing_but_what_the_schema_knows() -> None:
    mark = {"type": "link", "attrs": {"href": 'https://example.org/?a="<'}}
    document = checked(
        doc(
            {"type": "heading", "attrs": {"level": 1}, "content": [text("<b>&")]},
            para(
                {"type": "text", "text": "x", "marks": [mark, {"type": "bold"}]},
                {"type": "hardBreak"},
                text("y", "code"),
            ),
            {
                "type": "orderedList",
                "attrs": {"start": 3},
                "content": [{"type": "listItem", "content": [para(text("z"))]}],
            },
            {"type": "image", "attrs": {"mediaId": "m", "alt": '"><script>', "title": "T"}},
            {"type": "image", "attrs": {"mediaId": "gone"}},
            {"type": "codeBlock", "content": [text("<i>")]},
        )
    )
    assert html_of(document, {"m": "/m.png"}, PictureHosts()) == (
        "<h2>&lt;b&gt;&amp;</h2>"
        '<p><strong><a href="https://example.org/?a=&#34;&lt;" rel="nofollow noopener">x</a></strong><br><code>y</code></p>'
        '<ol start="3"><li><p>z</p></li></ol>'
        '<figure><img src="/m.png" alt="&#34;&gt;&lt;script&gt;" loading="lazy"><figcaption>T</figcaption></figure>'
        "<pre><code>&lt;i&gt;</code></pre>"
    )
    assert images_in(document) == ["m", "gone"]
    assert plain_text(document) == "<b>& x y z <i>"
    assert excerpt(document, 6) == "<b>& …"


# Markdown

words = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Zs", "Zl", "Zp")), min_size=1, max_size=8)
signs = st.text("#>+-=.()1 !*_[]<&;~\\ab:|`", min_size=1, max_size=8).map(str.strip).filter(bool)
plain = (words | signs).map(text)
marked = st.builds(lambda word, mark: text(word, mark), st.from_regex(r"[a-zäö]{1,6}", fullmatch=True), st.sampled_from(
    ["bold", "italic", "strike", "underline", "code"]
))  # fmt: skip


def lines(pieces: list[Json]) -> Json:
    """A paragraph whose marked parts are separated by spaces, as people write."""
    apart: list[Json] = []
    for piece in pieces:
        apart += [piece, text(" ")]
    return para(*apart[:-1])


paragraphs = st.lists(plain | marked, min_size=1, max_size=3).map(lines)
leaves = (
    paragraphs
    | st.builds(lambda level, word: {"type": "heading", "attrs": {"level": level}, "content": [text(word)]},
                st.integers(1, 6), st.from_regex(r"[A-Za-zäöü]{1,9}", fullmatch=True) | signs)
    | st.builds(lambda code: {"type": "codeBlock", "content": [text(code)]}, st.from_regex(r"[a-z`]{1,9}", fullmatch=True))
    | st.builds(lambda id, alt: {"type": "image", "attrs": {"mediaId": id, "alt": alt, "title": alt}},
                st.from_regex(r"[a-z0-9ä ()<>&;%.-]{0,8}[a-z0-9)]", fullmatch=True), words)
    | st.just({"type": "horizontalRule"})
)  # fmt: skip


def _nested(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    items = st.lists(
        st.builds(
            lambda first, rest: {"type": "listItem", "content": [first, *rest]}, paragraphs, st.lists(inner, max_size=1)
        ),
        min_size=1,
        max_size=2,
    )
    return (
        st.builds(lambda name, content: {"type": name, "content": content}, st.sampled_from(["bulletList", "orderedList"]), items)
        | st.builds(lambda content: {"type": "blockquote", "content": [content]}, inner)
    )  # fmt: skip


@settings(max_examples=60)
@given(st.lists(st.recursive(leaves, _nested, max_leaves=4), min_size=1, max_size=4))
def test_markdown_there_and_back(blocks: list[Json]) -> None:
    document = checked(doc(*blocks))
    assert checked(from_markdown(to_markdown(document))) == document


def _letters(document: Json) -> list[tuple[str, frozenset[str]]]:
    """Every letter with its marks."""
    found: list[Json] = [each for each in nodes_in(document) if each["type"] == "text"]
    marked = [(each["text"], frozenset(mark["type"] for mark in each.get("marks", ()))) for each in found]
    return [(letter, marks) for words, marks in marked for letter in "".join(words.split())]


@pytest.mark.parametrize(
    ("pieces", "markdown"),
    [
        ([text("Wort"), text("teil", "underline")], "Wor&#116;__teil__"),
        ([text("fett:", "bold"), text("weiter")], "**fett:**&#119;eiter"),
        ([text("a"), text("„b“", "bold"), text("c")], "&#97;**„b“**&#99;"),
        ([text("a ", "strike"), text("b", "bold", "strike")], "~~a **b**~~"),
        ([text("a", "underline"), text("b", "bold", "underline"), text(" c", "bold")], "__a**b**__ **c**"),
        ([text("fett:", "bold"), text("schräg", "italic")], "**fett:**_schräg_"),
        ([text("     Eingerückt")], "Eingerückt"),
        ([text("Am Ende"), {"type": "hardBreak"}], "Am Ende"),
    ],
)
def test_marks_are_seen_wherever_they_stand(pieces: list[Json], markdown: str) -> None:
    document = checked(doc(para(*pieces)))
    assert to_markdown(document) == markdown
    assert _letters(from_markdown(markdown)) == _letters(document)


@pytest.mark.parametrize(
    "sentence",
    ["Am 1. Mai (Sonntag): 3:0 gewonnen - Spaß!", "A & B + C = 5 | {x} #1 > 0", "https://example.org/a.b?c=d&e=f!"],
)
def test_a_sentence_is_written_as_it_is(sentence: str) -> None:
    """Backslashes are only where the text would mean something else."""
    assert to_markdown(doc(para(text(sentence)))) == sentence.replace("&e", "\\&e")


def test_a_heading_is_one_line_of_markdown() -> None:
    heading = {"type": "heading", "attrs": {"level": 2}, "content": [text("a"), {"type": "hardBreak"}, text("b")]}
    assert to_markdown(doc(heading)) == "## a b"


@settings(max_examples=100)
@given(st.text(max_size=60))
def test_whatever_is_typed_is_a_document_or_is_refused(typed: str) -> None:
    try:
        document = checked(from_markdown(typed))
    except BadDocument:
        return
    html_of(document, {}, PictureHosts())
    checked(from_markdown(to_markdown(document)))


def test_html_in_markdown_is_text() -> None:
    document = checked(from_markdown("<script>alert(1)</script> &amp;"))
    assert html_of(document, {}, PictureHosts()) == "<p>&lt;script&gt;alert(1)&lt;/script&gt; &amp;</p>"
    with pytest.raises(BadDocument):
        checked(from_markdown("[x](javascript:alert)"))


# Lexical


@pytest.mark.parametrize(
    ("lexical", "expected", "lost"),
    [
        (rich(node("paragraph", lexical_text("x", 1 | 2 | 4 | 8 | 16))),
         doc(para(text("x", "bold", "italic", "strike", "underline", "code"))), []),
        (rich(node("heading", lexical_text("H"), tag="h4")), doc({"type": "heading", "attrs": {"level": 4}, "content": [text("H")]}), []),
        (rich(node("quote", lexical_text("Q"))), doc({"type": "blockquote", "content": [para(text("Q"))]}), []),
        (rich(bullets("number", item(lexical_text("a")), item(bullets("bullet", item(lexical_text("b")))))),
         doc({"type": "orderedList", "content": [{"type": "listItem", "content": [
             para(text("a")), {"type": "bulletList", "content": [{"type": "listItem", "content": [para(text("b"))]}]}]}]}), []),
        (rich(node("paragraph", link("https://example.org", lexical_text("x", 1)))),
         doc(para({"type": "text", "text": "x", "marks": [{"type": "bold"}, {"type": "link", "attrs": {"href": "https://example.org"}}]})), []),
        (rich(node("paragraph", lexical_text("a"), picture(1))), doc(para(text("a")), {"type": "image", "attrs": {"mediaId": "1"}}), []),
        (rich(picture({"id": 1, "alt": "A"})), doc({"type": "image", "attrs": {"mediaId": "1", "alt": "A"}}), []),
        (rich(node("code", lexical_text("a"), {"type": "linebreak"}, lexical_text("b"))),
         doc({"type": "codeBlock", "content": [text("a\nb")]}), []),
        (rich(), doc(para()), []),
        (rich(lexical_text("lose")), doc(para(text("lose"))), []),
        (rich(node("table", node("tablerow", lexical_text("x")))), doc(para(text("x"))),
         ["a node of type 'table'", "a node of type 'tablerow'"]),
    ],
)  # fmt: skip
def test_lexical_becomes_tiptap(lexical: Json, expected: Json, lost: list[str]) -> None:
    conversion = Conversion(_is_media)
    assert conversion.document(lexical) == expected
    assert conversion.lost == lost


_is_media: Callable[[str], bool] = {"1"}.__contains__


@pytest.mark.parametrize(
    ("words", "slug"),
    [
        ("Größe zählt: Straße & Öl", "groesse-zaehlt-strasse-oel"),
        ("Übung!", "uebung"),
        ("U\u0308bung", "uebung"),
        ("ÄÖÜẞ", "aeoeuess"),
        ("Crème brûlée", "creme-brulee"),
        ("日本", ""),
        ("x" * 200, "x" * 80),
    ],
)
def test_slugs_are_german(words: str, slug: str) -> None:
    assert slug_of(words) == slug
