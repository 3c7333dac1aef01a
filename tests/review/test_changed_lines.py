"""What a remedy says, applied as it is written, removes its finding and makes no error."""

import importlib.util
import re
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from types import ModuleType

import pytest

from keyplan.design import Design, collecting
from keyplan.review import Finding, Reviewed, review

MISTAKES = Path(__file__).with_name("mistakes")
DESIGNS = {"shop": "Shop", "chat": "Chat", "devices": "Iot", "projects": "Saas"}
WORDS = re.compile(r"expected=expect\(|.*\.\.\.|@counts\(.orders.\)")
"""What is a word of the design to fill in, and not a line of it."""
NUMBERS = count()


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith("mistakes_"):
            del sys.modules[name]


def imported(folder: Path, text: str, name: str, *, but: str = "") -> type[Design]:
    """The design in a text, which has no errors but those with one code."""
    path = folder / f"mistakes_{next(NUMBERS)}.py"
    path.write_text(text, "utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module: ModuleType = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    with collecting() as errors:
        spec.loader.exec_module(module)
        design: type[Design] = getattr(module, name)
    assert [error for error in errors if error.code != but] == []
    return design


FOUND = {
    "shop": "KP209 KP215 KP301 KP302 KP305x2 KP309 KP310x3 KP311 KP314 KP315x2 KP317 KP320 KP322 KP401 KP403 KP405 "
    "KP406 KP409 KP414 KP502 KP503 KP611x2 KP614",
    "chat": "KP305 KP306x2 KP310x3 KP311x2 KP312 KP315 KP402 KP404 KP409 KP501",
    "devices": "KP213 KP215 KP305x3 KP307 KP310x2 KP403 KP405 KP406 KP408 KP410 KP501 KP502x3 KP503x3 KP504 KP506 "
    "KP510",
    "projects": "KP215 KP305x3 KP308 KP310x4 KP311 KP315 KP316 KP321 KP402 KP403 KP409 KP414 KP417x2 KP511x3 KP512 "
    "KP513x2",
}


@pytest.mark.parametrize("name", DESIGNS)
def test_mistakes_are_found_and_nothing_else(folder: Path, name: str) -> None:
    text = (MISTAKES / f"{name}.txt").read_text("utf-8")
    found = Counter(each.rule.code for each in review(Reviewed(imported(folder, text, DESIGNS[name]))).findings)
    assert (
        " ".join(code if number == 1 else f"{code}x{number}" for code, number in sorted(found.items())) == FOUND[name]
    )


def applied(text: str, finding: Finding) -> str:
    """The text of a design with the changed lines of a finding."""
    for line in finding.change.splitlines():
        text = changed(text, finding, line)
    return text


def changed(text: str, finding: Finding, line: str) -> str:
    lines = text.splitlines()
    place = finding.place
    if named := re.match(r'"(\w+)": ', line):  # an index
        return replaced(text, rf'^ *"{named[1]}": .*$', f"    {line},")
    if line.endswith("  # the key of the table"):
        return replaced(text, rf'(Table\("{place.table}", )key\([^)]*\)', rf"\1{line.partition('  #')[0]}")
    if line.startswith("@"):
        assert place.line is not None
        lines[place.line - 1 if lines[place.line - 1].lstrip().startswith("@") else place.line - 2] = f"    {line}"
        return "\n".join(lines)
    if line.startswith("consumer("):
        return replaced(text, r'consumer\("\w+"\)', line)
    if re.match(r"\w+=", line) and place.pattern:
        start = next(at for at, each in enumerate(lines) if f"def {place.pattern}(" in each)
        body = next(at for at in range(start, len(lines)) if lines[at].lstrip().startswith("return "))
        lines[body] = re.sub(r"\)$", f", {line})", lines[body])
        return "\n".join(lines)
    if word := re.match(r"(\w+)=", line):  # of a table
        without = re.sub(rf'(Table\("{place.table}",.*?), {word[1]}="\w+"', r"\1", text)
        return replaced(without, rf'(Table\("{place.table}", )(key\([^)]*\))', rf"\1\2, {line}")
    member = re.match(r"\w+", line)
    assert member is not None
    start = next(at for at, each in enumerate(lines) if each.startswith(f"class {place.entity or guarded(text)}("))
    end = next((at for at in range(start + 1, len(lines)) if re.match(r"\S", lines[at])), len(lines))
    for at in range(start, end):
        if re.match(rf" +{member[0]}\b *[:=]", lines[at]):
            lines[at] = f"    {line}"
            return "\n".join(lines)
    lines.insert(start + 1, f"    {line}")
    return "\n".join(lines)


def guarded(text: str) -> str:
    """The entity whose items are found by a value that isn't guarded, in the shop."""
    assert "class Customer(" in text
    return "Customer"


def replaced(text: str, pattern: str, line: str) -> str:
    result, number = re.subn(pattern, line, text, count=1, flags=re.MULTILINE)
    assert number == 1, (pattern, line)
    return result


@pytest.mark.parametrize("name", DESIGNS)
def test_changed_lines_remove_what_was_found(folder: Path, name: str) -> None:
    text = (MISTAKES / f"{name}.txt").read_text("utf-8")
    before = review(Reviewed(imported(folder, text, DESIGNS[name]))).findings
    lines = [each for each in before if each.change and not WORDS.match(each.change)]
    assert len(lines) > 5
    for finding in lines:
        has_new_arguments = finding.rule.name in ("key-without-tenant", "index-without-tenant", "guard-across-tenants")
        but = "key-fields" if has_new_arguments else ""  # patterns need the tenant then
        design = imported(folder, applied(text, finding), DESIGNS[name], but=but)
        left = review(Reviewed(design), [finding.rule]).findings
        assert (finding.place.text, finding.happens) not in [(each.place.text, each.happens) for each in left]
