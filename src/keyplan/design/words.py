"""What a design can say beyond its keys, for those who read it: what is expected, who reads streams, what is accepted.

All of it is optional, and none of it changes how items are stored. `keyplan.review` judges by it, costs and forecasts
are calculated from it, documents and templates show it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar, get_args

from keyplan.design.errors import DesignError, recorded

TableClass: TypeAlias = Literal["STANDARD", "STANDARD_INFREQUENT_ACCESS"]

T = TypeVar("T")

_RULE = re.compile(r"KP[0-9]{3}|[a-z][a-z0-9]*(-[a-z0-9]+)*")
_REGION = re.compile(r"[a-z]{2,}(-[a-z0-9]+)+")
_ENCRYPTION = re.compile(r"AWS_OWNED|AWS_MANAGED|arn:[\w-]+:kms:[\w:/-]+")
_TAG = re.compile(r"[\w .:/=+@-]*")
_MOST_TAGS = 50
MOST_RECOVERY_DAYS = 35


@dataclass(frozen=True)
class Expected:
    """How many items an entity will have, and how large they are."""

    items: int | None = None
    """The number of items."""
    size: int | None = None
    """The average size of an item in bytes, as it is stored."""
    partition: int | None = None
    """The largest number of items under one hash key."""
    growth: int | None = None
    """The number of items that are added in a month."""


def expect(
    *, items: int | None = None, size: int | None = None, partition: int | None = None, growth: int | None = None
) -> Expected:
    """What is expected of an entity: `class Post(Entity, table=blog, expected=expect(items=50_000, size=2_000))`.

    `size` is in bytes, `partition` the most items under one hash key, `growth` the items that are added in a month.
    """
    given = {"items": items, "size": size, "partition": partition, "growth": growth}
    usable: dict[str, int | None] = {}
    for name, value in given.items():
        with recorded():
            if value is not None and not _is_whole(value, 0 if name == "growth" else 1):
                problem, remedy = (
                    f"{value!r} can't be the expected {name}",
                    "Give a whole number above 0, or leave it out.",
                )
                raise DesignError("expectation", f"expect.{name}", problem, remedy)
            usable[name] = value
    return Expected(**usable)


def _is_whole(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


@dataclass(frozen=True)
class Consumer:
    """Something that reads a table's stream."""

    name: str
    failures: str | None = None
    """Where records go that it can't process, such as a queue. None: nowhere."""


def consumer(name: str, *, failures: str | None = None) -> Consumer:
    """A reader of a table's stream: `consumer("search index", failures="search-index-failures")`."""
    for each in (name, failures):
        with recorded():
            if each is not None and not _is_text(each):
                problem, remedy = f"{each!r} isn't a name", 'Write consumer("search", failures="name of a queue").'
                raise DesignError("consumer", "consumer", problem, remedy)
    return Consumer(name, failures)


@dataclass(frozen=True)
class Accepted:
    """A finding of a review that is accepted, with the reason."""

    rule: str
    place: str
    because: str


def accept(rule: str, place: str, *, because: str) -> Accepted:
    """Accept what a review finds: `accept("KP402", "Post.by_type", because="there are at most a few hundred posts")`.

    `rule` is the code or the name of a rule. `place` is the place of the finding; the name of an entity, a table or a
    design stands for everything in it.
    """
    with recorded():
        if not _RULE.fullmatch(rule):
            problem = f"{rule!r} isn't the code or the name of a rule"
            raise DesignError("acceptance", "accept", problem, 'Write a code such as "KP402", or the name of a rule.')
        for name, value in (("place", place), ("because", because)):
            if not _is_text(value):
                problem = f"{name} is {value!r}"
                remedy = "Say which finding is accepted, and why: readers of the design need the reason."
                raise DesignError("acceptance", f"accept({rule!r})", problem, remedy)
    return Accepted(rule, place, because)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


Claims: TypeAlias = Sequence[str | tuple[str, ...]]
"""Fields, or combinations of fields, that no two items of an entity may share."""


def checked_claims(place: str, claims: Claims, fields: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """The claims, each as a tuple of fields; refuses fields that the entity doesn't have."""
    if isinstance(claims, str):
        raise DesignError(
            "claims", place, f"{claims!r} is text, not a list", f'Write claims=("{claims}",), with the comma.'
        )
    known = tuple(fields)
    combined = tuple((claim,) if isinstance(claim, str) else tuple(claim) for claim in claims)
    for claim in combined:
        unknown = [name for name in claim if name not in known]
        if unknown or not claim:
            problem = f"{', '.join(map(str, unknown)) or 'an empty claim'} isn't a field"
            raise DesignError("no-such-field", f"{place}.claims", problem, f"The fields are: {', '.join(known)}.")
    return combined


def check_operations(
    name: str,
    *,
    recovery: object,
    table_class: object,
    encryption: object,
    tags: Mapping[str, str],
    consumers: Sequence[Consumer],
    has_stream: bool,
) -> None:
    """Refuse settings of a table's operation that DynamoDB doesn't have."""
    with recorded():
        _check_recovery(name, recovery)
    with recorded():
        if table_class not in get_args(TableClass):
            choices = " or ".join(get_args(TableClass))
            raise DesignError("table-class", name, f"{table_class!r} isn't a table class", f"Use {choices}.")
    with recorded():
        if encryption is not None and not (isinstance(encryption, str) and _ENCRYPTION.fullmatch(encryption)):
            remedy = "Use AWS_OWNED, AWS_MANAGED, or the ARN of a key."
            raise DesignError("encryption", name, f"{encryption!r} isn't a way to encrypt a table", remedy)
    with recorded():
        _check_tags(name, tags)
    with recorded():
        _check_consumers(name, consumers, has_stream)


def _check_recovery(name: str, recovery: object) -> None:
    is_days = recovery is None or isinstance(recovery, bool) or _is_whole(recovery, 1)
    if not is_days or (isinstance(recovery, int) and recovery > MOST_RECOVERY_DAYS):
        most = MOST_RECOVERY_DAYS
        remedy = f"Use 1 to {most}, True for {most}, or False for none."
        raise DesignError("recovery", name, f"recovery={recovery!r} isn't a number of days", remedy)


def _check_tags(name: str, tags: Mapping[str, str]) -> None:
    for key, value in tags.items():
        if not (0 < len(key) <= 128 and len(value) <= 256 and _TAG.fullmatch(key) and _TAG.fullmatch(value)) or (
            key.lower().startswith("aws:")
        ):
            remedy = "Use up to 128 letters, digits, spaces and . : / = + @ - _ (256 in values), and not aws: in front."
            raise DesignError("tags", f"{name}.{key}", f"AWS doesn't allow the tag {key}={value}", remedy)
    if len(tags) > _MOST_TAGS:
        raise DesignError("tags", name, f"it has {len(tags)} tags", f"Use at most {_MOST_TAGS}.")


def _check_consumers(name: str, consumers: Sequence[Consumer], has_stream: bool) -> None:
    given: object = consumers
    wrong = [each for each in given if not isinstance(each, Consumer)] if isinstance(given, Sequence) else [given]
    if wrong:
        problem = f"consumers has {wrong[0]!r}"
        raise DesignError("consumer", name, problem, 'Write consumers=(consumer("search"),), with the comma.')
    if consumers and not has_stream:
        remedy = 'Give the table stream="NEW_AND_OLD_IMAGES", or another view.'
        raise DesignError("consumer", f"{name}.{consumers[0].name}", "the table has no stream to read", remedy)


def check_pattern_words(place: str, decides: object, returns: object) -> None:
    """Refuse what can't be decided on, or returned by, an access pattern."""
    with recorded():
        if decides is not None and not _is_text(decides):
            remedy = 'Say what: decides="whether the user may publish".'
            raise DesignError("decides", place, f"decides is {decides!r}", remedy)
    with recorded():
        if returns is not None and not _is_whole(returns, 0):
            remedy = "Give the usual number of items that it returns."
            raise DesignError("returns", place, f"returns is {returns!r}", remedy)


def check_design_words(
    place: str, *, tenant_field: object, fields: Iterable[str], regions: object, accepted: object
) -> None:
    """Refuse a tenant that no entity has, regions that can't be ones, and what isn't an acceptance."""
    with recorded():
        known = sorted(set(fields))
        if tenant_field is not None and tenant_field not in known:
            remedy = f"Name the field that says whose data an item is. The fields are: {', '.join(known)}."
            problem = f"no entity has a field {tenant_field!r}"
            raise DesignError("tenant-field", f"{place}.tenant_field", problem, remedy)
    with recorded():
        _check_regions(f"{place}.regions", regions)
    with recorded():
        if not isinstance(accepted, Sequence) or not all(isinstance(each, Accepted) for each in accepted):
            remedy = 'Write accepted = (accept("KP402", "Post.by_type", because="..."),), with the comma.'
            raise DesignError("acceptance", f"{place}.accepted", "it isn't a list of accept(...)", remedy)


def as_meant(value: object, kind: type[T]) -> tuple[T, ...]:
    """What a word of a design lists, also if it was written without the comma, or has something else in it."""
    listed = value if isinstance(value, Sequence) and not isinstance(value, str) else (value,)
    return tuple(each for each in listed if isinstance(each, kind))


def _check_regions(place: str, regions: object) -> None:
    if isinstance(regions, str) or not isinstance(regions, Sequence):
        problem, remedy = f"{regions!r} isn't a tuple or a list", f'Write regions = ("{regions}",), with the comma.'
        raise DesignError("regions", place, problem, remedy)
    for region in regions:
        if not (isinstance(region, str) and _REGION.fullmatch(region)):
            problem = f"{region!r} isn't the name of a region"
            raise DesignError("regions", place, problem, "Write it as AWS does, such as eu-central-1.")
