"""Texts of another direction in templates: isolated from what is around them, wherever they are printed."""

from datetime import date

import pytest
from jinja2 import DictLoader, Environment

from keyplan.web import isolated
from keyplan.web.pages.isolation import Isolation
from keyplan.web.system.directions import filled_in
from keyplan.web.system.language import english_day

HEBREW = "שלום"
OVERRIDE = "a\u202eb"
FSI, PDI = "\u2068", "\u2069"
BASE = "<title>{% block title %}{% endblock %}</title><main>{% block main %}{% endblock %}</main>"
PARTS = "{% macro versus(name) %}vs. {{ name }}{% endmacro %}"


def shown(template: str, name: object = HEBREW) -> str:
    templates = DictLoader({"base.html": BASE, "parts.html": PARTS, "page.html": template})
    made = Environment(loader=templates, autoescape=True, extensions=[Isolation])
    return made.get_template("page.html").render(name=name)


@pytest.mark.parametrize("name", [HEBREW, OVERRIDE, "مرحبا", "x\u2067y\u2069"])
def test_a_text_between_elements_is_in_an_element_of_its_own(name: str) -> None:
    assert shown("<p>by {{ name }}, 3 goals</p>", name) == f"<p>by <bdi>{name}</bdi>, 3 goals</p>"


@pytest.mark.parametrize("name", ["Ada", "Zoë <b>", "山田", 3, None])
def test_other_values_are_printed_as_always(name: object) -> None:
    escaped = str(name).replace("<", "&lt;").replace(">", "&gt;")
    assert shown('<p title="{{ name }}">{{ name }}</p>', name) == f'<p title="{escaped}">{escaped}</p>'


def test_the_text_is_escaped() -> None:
    assert shown("{{ name }}", f"{HEBREW}<script>") == f"<bdi>{HEBREW}&lt;script&gt;</bdi>"


@pytest.mark.parametrize("attribute", ["title", "aria-label", "alt", "placeholder"])
def test_in_an_attribute_for_people_characters_isolate(attribute: str) -> None:
    assert shown(f'<a {attribute}="Edit {{{{ name }}}}">') == f'<a {attribute}="Edit {FSI}{HEBREW}{PDI}">'


@pytest.mark.parametrize("place", ['<input value="{}">', "<a href='/tags/{}'>", "<textarea>\n{}</textarea>"])
def test_values_and_addresses_stay_as_they_are(place: str) -> None:
    assert shown(place.replace("{}", "{{ name }}")) == place.replace("{}", HEBREW)


def test_a_title_and_an_option_have_no_elements() -> None:
    assert shown("<option value=''>{{ name }}</option>") == f"<option value=''>{FSI}{HEBREW}{PDI}</option>"
    blocks = "{% block title %}{{ name }} · Blog{% endblock %}{% block main %}{{ name }}{% endblock %}"
    page = '{% extends "base.html" %}' + blocks
    assert shown(page) == f"<title>{FSI}{HEBREW}{PDI} · Blog</title><main><bdi>{HEBREW}</bdi></main>"


def test_a_macro_may_be_used_anywhere() -> None:
    page = '{% from "parts.html" import versus %}<a title="{{ versus(name) }}">{{ versus(name) }}</a>'
    assert shown(page) == f'<a title="vs. {FSI}{HEBREW}{PDI}">vs. <bdi>{HEBREW}</bdi></a>'


def test_a_text_that_is_put_together_with_a_macro_is_isolated_as_a_whole() -> None:
    page = '{% from "parts.html" import versus %}{% set both = name ~ " <" ~ versus(name) %}'
    isolated = f"{HEBREW} &lt;vs. <bdi>{HEBREW}</bdi>"
    assert shown(page + "<p>{{ both }}</p>") == f"<p><bdi>{isolated}</bdi></p>"
    inside = isolated.replace("<bdi>", FSI).replace("</bdi>", PDI)
    assert shown(page + "<option>{{ both }}</option>") == f"<option>{FSI}{inside}{PDI}</option>"


def test_a_condition_without_else_prints_nothing() -> None:
    assert shown("<p>{{ name if false }}</p>") == "<p></p>"


def test_a_text_cannot_end_its_isolation() -> None:
    assert shown("{{ name }}", f"{PDI}{PDI}a\u202e") == "<bdi>a\u202e</bdi>"
    assert shown('<a title="{{ name }}">', "\u2067a") == f'<a title="{FSI}\u2067a{PDI}{PDI}">'


# Sentences that are made in Python


@pytest.mark.parametrize("name", [HEBREW, OVERRIDE, f"{HEBREW} 12", "\u2067a\u202e"])
def test_only_the_names_in_a_sentence_are_isolated(name: str) -> None:
    sentence = f"{isolated(name)} joined <{isolated(name)}>, 3 of 4"
    plain = name.replace("\u2067", "")
    expected = f"<p><bdi>{plain}</bdi> joined &lt;<bdi>{plain}</bdi>&gt;, 3 of 4</p>"
    assert shown("<p>{{ name }}</p>", sentence) == expected
    in_title = f'<a title="{FSI}{plain}{PDI} joined &lt;{FSI}{plain}{PDI}&gt;, 3 of 4">'
    assert shown('<a title="{{ name }}">', sentence) == in_title


def test_names_in_braces_are_isolated() -> None:
    assert filled_in("{name} has {count}", {"name": HEBREW, "count": 3}, english_day) == f"{FSI}{HEBREW}{PDI} has 3"
    assert filled_in("{name} has {count}", {"name": "Zoë", "count": 3}, english_day) == "Zoë has 3"


def test_days_in_braces_are_written_as_people_do() -> None:
    assert filled_in("Delete the match of {date}?", {"date": date(2026, 3, 17)}, english_day) == (
        "Delete the match of 17 March 2026?"
    )


def test_a_name_cannot_end_its_isolation_in_a_sentence() -> None:
    sentence = f"{isolated(f'{PDI}<{FSI}a' + OVERRIDE)} created"
    assert shown("{{ name }}", sentence) == f"<bdi>&lt;a{OVERRIDE}</bdi> created"


def test_a_sentence_with_another_name_is_isolated_as_a_whole() -> None:
    """A name that nobody isolated must not change the direction of the page either."""
    sentence = f"{isolated(HEBREW)} and {HEBREW}"
    assert shown("{{ name }}", sentence) == f"<bdi>{FSI}{HEBREW}{PDI} and {HEBREW}</bdi>"
