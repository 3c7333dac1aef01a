"""Amazon Ion text: what is written can be read, other writers' texts are read, and anything else is refused."""

from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keyplan.engine.formats import ion_reader, ion_writer
from keyplan.engine.formats.lines import BadRecord


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"S": 'a "b" \\ \n é'}, '"a \\"b\\" \\\\ \\n é"'),
        ({"N": "103"}, "103."),
        ({"N": "600"}, "6d2"),
        ({"N": "2000"}, "2d3"),
        ({"N": "-0.5"}, "-0.5"),
        ({"N": "0"}, "0."),
        ({"N": "1.5E-60"}, "15d-61"),
        ({"N": "12E+40"}, "12d40"),
        ({"B": "eHl6"}, "{{eHl6}}"),
        ({"BOOL": False}, "false"),
        ({"NULL": True}, "null"),
        ({"SS": ["a", "b"]}, '$dynamodb_SS::["a","b"]'),
        ({"NS": ["1", "200"]}, "$dynamodb_NS::[1.,2d2]"),
        ({"BS": ["eA=="]}, "$dynamodb_BS::[{{eA==}}]"),
        ({"L": [{"N": "1"}, {"L": []}]}, "[1.,[]]"),
        (
            {"M": {"a": {"S": ""}, "a b": {"S": "x"}, "null": {"S": "y"}, "$1": {"S": "z"}}},
            '{a:"",\'a b\':"x",\'null\':"y",\'$1\':"z"}',
        ),
        ({"M": {"it's": {"BOOL": True}}}, "{'it\\'s':true}"),
    ],
)
def test_written(value: Any, text: str) -> None:
    line = ion_writer.item_line({"x": value})
    assert line.decode() == f"$ion_1_0 {{Item:{{x:{text}}}}}\n"
    read = ion_reader.read_record(line)["Item"]
    if "N" not in value and "NS" not in value:
        assert read == {"x": value}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", {"N": "1"}),
        ("+1.5", {"N": "1.5"}),
        ("1_000.5", {"N": "1000.5"}),
        ("-12d-3", {"N": "-12E-3"}),
        ("1.e5", {"N": "1E5"}),
        ("6D2", {"N": "6E2"}),
        ("0x1F", {"N": "31"}),
        ("-0b101", {"N": "-5"}),
        ('"\\x41\\u00e9\\U0001F600\\a\\0\\/"', {"S": "Aé\U0001f600\a\0/"}),
        ("'''one '''  '''two'''", {"S": "one two"}),
        ("{{ eHl6 }}", {"B": "eHl6"}),
        ("null.string", {"NULL": True}),
        ("/* why */ true // so", {"BOOL": True}),
        ("{ 'a b' : 1, \"c\":2, }", {"M": {"a b": {"N": "1"}, "c": {"N": "2"}}}),
        ("[1,2,]", {"L": [{"N": "1"}, {"N": "2"}]}),
        ("'$dynamodb_SS'::[\"a\"]", {"SS": ["a"]}),
    ],
)
def test_read(text: str, value: Any) -> None:
    end = "\n" if "//" in text else ""
    assert ion_reader.read_record(f"{{Item:{{x:{text}{end}}}}}".encode())["Item"] == {"x": value}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2020-01-01T00:00Z", "The line is not Ion text: unexpected '2020-01-01'"),
        ("(a b)", "The line is not Ion text: unexpected '(a b)}}'"),
        ("symbol", "DynamoDB has no type for the Ion value 'symbol'"),
        ('{{"clob"}}', "The line is not Ion text: '{' is not a name"),
        ("other::[1]", "Unknown annotation other"),
        ('$dynamodb_NS::["a"]', "A set of type NS has a value of another type"),
        ("{a:1,a:2}", "A struct has two fields with the same name: a"),
        ('"\\ud800"', "A text has an escape that is no character"),
        ("[1", "The line is not Ion text: unexpected '}'"),
        ('"open', "The line is not Ion text: unexpected '\"open}}'"),
        ("[" * 100 + "]" * 100, "The item is nested too deeply"),
        ("0x" + "f" * 5_000, "A number has more than 500 digits: 0xffffffffffffffffff..."),
        ("{{" + " " * 300_000 + "!", "The line is not Ion text: unexpected '!}}'"),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(BadRecord) as caught:
        ion_reader.read_record(f"{{Item:{{x:{text}}}}}".encode())
    assert str(caught.value) == message


@pytest.mark.parametrize("line", [b"", b"$ion_1_0", b"{Other:{}}", b"{Item:1}", b"[1]", b"{Item:{}} more", b"\xff"])
def test_no_item(line: bytes) -> None:
    with pytest.raises(BadRecord):
        ion_reader.read_record(line)


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
scalars = st.one_of(
    st.builds(lambda text: {"S": text}, texts),
    st.builds(lambda content: {"B": content}, st.sampled_from(["", "eA==", "eHl6"])),
    st.builds(lambda value: {"BOOL": value}, st.booleans()),
    st.just({"NULL": True}),
    st.builds(lambda items: {"SS": items}, st.lists(texts, min_size=1, unique=True, max_size=3)),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.builds(lambda items: {"L": items}, st.lists(inner, max_size=3)),
        st.builds(lambda items: {"M": items}, st.dictionaries(texts, inner, max_size=3)),
    ),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(texts, values, max_size=4))
def test_round_trip(item: dict[str, Any]) -> None:
    assert ion_reader.read_record(ion_writer.item_line(item))["Item"] == item


@settings(max_examples=60, deadline=None)
@given(st.text(st.sampled_from("{}[]:,'\"\\$ion_1.0d null Item x/*\n-"), max_size=30))
def test_any_text(text: str) -> None:
    try:
        record = ion_reader.read_record(text.encode())
    except BadRecord:
        return
    orjson.dumps(record)
