"""Forecasts: which keys run hot, what is refused, and what would help."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree

import numpy as np
import pytest

from keyplan.capacity.consumed import TableOrIndex
from keyplan.capacity.heat.forecasting import Forecast, forecast
from keyplan.capacity.heat.heatmap import heat_map
from keyplan.capacity.heat.hot_keys import hot_keys
from keyplan.capacity.heat.load import STEP_SECONDS, load_of, step_weights
from keyplan.capacity.heat.partitions import READ_UNITS, SORT_BITS, WRITE_UNITS, Partitions
from keyplan.capacity.heat.popularity import hottest_share, zipf
from keyplan.capacity.heat.reports import amount, forecast_json, forecast_markdown, forecast_text
from keyplan.capacity.metering import MeteredDesign, meter
from keyplan.capacity.traffic import Popularity, Traffic, TrafficError, traffic_of, traffic_text
from keyplan.design import (
    Created,
    Design,
    Entity,
    Get,
    Id,
    Query,
    Ref,
    Table,
    Updated,
    belongs_to,
    created,
    get,
    key,
    pattern,
    query,
    ref,
    updated,
)
from keyplan.design import local as local_index
from keyplan.engine import Engine

news = Table("News", key("PK", "SK"), indexes={"Latest": key("LatestPK", "LatestSK")})


class Story(Entity, table=news):
    id: Id
    section: Literal["world", "sport"] = "world"
    title: str
    created_at: Created = created()
    primary = key("STORY#{id}", "STORY")
    latest = news.Latest("LATEST", "{created_at}#{id}")


class Remark(Entity, table=news):
    story_id: Id
    id: Id
    created_at: Created = created()
    text: str
    primary = key("REMARKS#{story_id}", "{created_at}#{id}")


class News(Design):
    tables, entities = [news], [Story, Remark]

    @pattern("Get a story")
    def story(self, id: str) -> Get[Story]:
        return get(Story, id=id)

    @pattern("Get the latest stories")
    def latest(self) -> Query[Story]:
        return query(Story.latest, newest_first=True)

    @pattern("Get the remarks on a story")
    def remarks(self, story_id: str) -> Query[Remark]:
        return query(Remark.primary, story_id=story_id)


def metered_as(traffic: Traffic, design: type[Design] = News) -> MeteredDesign:
    with Engine(ttl_interval=None) as engine:
        return meter(design, engine, traffic)


def foretold(text: str, users: int | None = None, design: type[Design] = News) -> Forecast:
    traffic = traffic_of(text, design)
    return forecast(design, metered_as(traffic, design), traffic, users=users, requests=50_000)


LATEST, STORIES = TableOrIndex("News", "Latest"), TableOrIndex("News")

# Popularity


@pytest.mark.parametrize("exponent", [0, 0.5, 0.8, 1, 1.3])
def test_values_are_drawn_as_zipf_says(exponent: float) -> None:
    weights = 1 / np.arange(1, 50_001) ** exponent
    wanted = np.cumsum(weights) / weights.sum()
    found = zipf(50_000, exponent).draw((np.arange(200_000) + 0.5) / 200_000)
    assert found.min() == 0
    assert found.max() < 50_000
    for rank in (0, 9, 99, 1023, 1024, 5_000, 40_000):
        assert abs(float((found <= rank).mean()) - wanted[rank]) < 0.002


def test_the_hottest_value_has_its_share_on_top() -> None:
    plain = zipf(1000, 0.8).hottest
    assert hottest_share(1000, Popularity(0.8)) == pytest.approx(plain)
    assert hottest_share(1000, Popularity(0.8, 0.05)) == pytest.approx(0.05 + 0.95 * plain)


# Partitions


def position(number: int, spot: int = 0) -> int:
    return (number << SORT_BITS) * 0x9E3779B97F4A7C15 % 2**64 >> SORT_BITS << SORT_BITS | spot


def test_a_partition_serves_its_limit_and_what_it_saved_for_a_burst() -> None:
    partitions = Partitions(0, provisioned=(1, 1))
    assert len(partitions) == 1
    calm, limit = np.zeros(1), np.array([WRITE_UNITS * 300.0])
    assert partitions.serve(calm, limit, 300).refused_writes[0] == 0
    assert partitions.serve(calm, 2 * limit, 300).refused_writes[0] == pytest.approx(0.5), "nothing was saved"
    partitions.serve(calm, calm, 300)
    assert partitions.serve(calm, 2 * limit, 300).refused_writes[0] == 0, "5 minutes were saved"
    partitions.serve(calm, calm, 3600)
    assert partitions.serve(calm, 3 * limit, 300).refused_writes[0] == pytest.approx(1 / 3), "and no more than these"


def test_tables_begin_with_partitions_for_their_size_and_capacity() -> None:
    assert len(Partitions()) == 4, "a new on-demand table serves 12,000 reads and 4,000 writes"
    assert len(Partitions(95e9)) == 10
    assert len(Partitions(0, provisioned=(6_000, 1_500))) == 4


@pytest.mark.parametrize(
    ("positions", "helps"),
    [
        ([position(number) for number in range(50)], True),
        ([position(7)] * 50, False),
        ([position(7, spot) for spot in range(50)], True),
    ],
    ids=["many keys", "one item or one end", "many items of one collection"],
)
def test_a_busy_partition_is_split_where_it_helps(positions: list[int], helps: bool) -> None:
    partitions = Partitions(0, provisioned=(1, 1))
    at = np.array(positions, dtype=np.uint64)
    weights = np.full(50, WRITE_UNITS * 300 * 2 / 50)
    for _ in range(8):
        owners = partitions.find(at)
        writes = np.bincount(owners, weights, len(partitions)).astype(np.float64)
        refused = partitions.serve(np.zeros(len(partitions)), writes, 300).refused_writes.max()
        partitions.split(at, weights)
    assert (len(partitions) > 1) is helps
    assert bool(refused == 0) is helps


# Forecasts


def test_a_list_that_all_read_is_hot_from_the_number_of_users_that_its_limit_says() -> None:
    found = foretold("users: 1000\npatterns:\n  latest: {rate: 864 per user and day, items: 1}\n", users=9_000_000)
    (key_,) = found.too_hot
    assert (key_.place, key_.touch.shown.strip(), key_.kind) == (LATEST, "LATEST", "reads")
    each = key_.units / 90_000  # 864 a day are one in 100 seconds
    assert key_.load == pytest.approx(90_000 * each / READ_UNITS)
    users = found.hot_from_users(key_)
    assert users == pytest.approx(READ_UNITS / each * 100, rel=0.01)
    refused = found.simulated.throttled["latest"]
    assert refused == pytest.approx(1 - READ_UNITS / key_.units, abs=0.02)
    assert found.after is not None
    assert found.after.throttled["latest"] == 0
    assert key_.parts >= 2**4
    assert key_.units / key_.parts <= READ_UNITS / 2


def test_a_hot_index_has_the_writes_of_its_table_refused() -> None:
    found = foretold("users: 1000\nwrites:\n  Story:\n    create: 864 per user and day\n", users=300_000)
    (key_,) = found.too_hot
    assert (key_.place, key_.kind, key_.is_item) == (LATEST, "writes", False)
    assert "same end" in key_.reason
    assert f"{{shard(..., {key_.parts})}}" in key_.remedy
    assert found.simulated.throttled["Story.create"] == pytest.approx(2 / 3, abs=0.02)
    assert set(found.simulated.causes["Story.create"]) == {LATEST}, "the table itself serves 4,000 writes"
    assert found.after is not None
    assert found.after.throttled["Story.create"] < 0.02


def test_load_on_many_keys_is_spread_by_splits() -> None:
    found = foretold(
        "users: 1000\npopularity:\n  Story: 0\npatterns:\n  story: 864 per user and day\n", users=5_000_000
    )
    assert not found.too_hot
    assert found.simulated.places[STORIES].partitions > 4
    assert found.throttled() < 0.01


def test_a_celebrity_is_a_hot_item() -> None:
    found = foretold(
        "users: 1000\npopularity:\n  Story: {zipf: 0, hottest: 20%}\npatterns:\n  story: 864 per user and day\n",
        users=9_000_000,
    )
    (key_,) = found.too_hot
    assert (key_.touch.shown.strip(), key_.is_item) == ("STORY#{id}", True)
    assert key_.units == pytest.approx(90_000 * 0.2 * 0.5, rel=0.01)


@pytest.mark.parametrize(
    ("popular", "hot"), [("{zipf: 0, hottest: 20%}", True), ("{zipf: 0}", False)], ids=["celebrity", "all alike"]
)
def test_a_single_item_of_a_collection_can_be_hot(popular: str, hot: bool) -> None:
    """Splits spread a collection over partitions, and don't help where one of its items is what all ask for."""
    found = foretold(f"""\
users: 1000
items: {{Remark: 50_000}}
popularity: {{Remark: {popular}}}
writes: {{Remark: {{update: 10_000 per second}}}}
""")
    assert [(key_.touch.shown.strip(), key_.is_item) for key_ in found.too_hot] == (
        [("REMARKS#{story_id}, {created_at}#{id}", True)] if hot else []
    )
    refused = found.simulated.throttled["Remark.update"]
    assert refused == pytest.approx(0.2 * (1 - WRITE_UNITS / 2_000) if hot else 0, abs=0.02)


def test_a_job_can_be_for_one_item_of_a_collection() -> None:
    found = foretold("""\
users: 1
items: {Remark: 50_000}
jobs:
  fix: {run: Remark.update, rate: 2_000 per second, start: 3, hours: 1, one: true}
""")
    (key_,) = found.too_hot
    assert key_.is_item
    assert key_.units == pytest.approx(2_000)
    assert found.simulated.throttled["Remark.update"] > 0.4
    assert found.after is not None
    assert found.after.throttled["Remark.update"] == 0, "what helps helps"


def test_two_items_of_a_collection_are_two_keys() -> None:
    homes = Table("Homes", key("PK", "SK"))

    class Owner(Entity, table=homes):
        owner: Id
        primary = key("OWNER#{owner}", "OWNER")

    class Setting(Entity, table=homes):
        owner: Id
        color: str = "red"
        primary = key("OWNER#{owner}", "SETTING")

        @belongs_to(on_delete="keep")
        def whose(self) -> Ref[Owner]:
            return ref(Owner, owner=self.owner)

    class Homes(Design):
        tables, entities = [homes], [Owner, Setting]

        @pattern("Get an owner")
        def one(self, owner: str) -> Get[Owner]:
            return get(Owner, owner=owner)

        @pattern("Get the setting of an owner")
        def setting(self, owner: str) -> Get[Setting]:
            return get(Setting, owner=owner)

    text = "items: {Owner: {count: 1, fixed: true}}\npatterns: {one: 4_000 per second, setting: 4_000 per second}\n"
    found = foretold(text, design=Homes)
    assert [(key_.units, [name for name, _ in key_.operations]) for key_ in found.hot] == [
        (2_000, ["one"]),
        (2_000, ["setting"]),
    ]


def test_a_job_on_one_list_runs_at_its_hours() -> None:
    text = """\
users: 1000
items: {Remark: 50_000}
jobs:
  import: {run: Remark.create, rate: 2_000 per second, start: 3, hours: 1, one: true}
writes:
  Remark: {create: 1 per day}
"""
    found = foretold(text)
    (key_,) = found.too_hot
    assert key_.kind == "writes"
    assert key_.step * STEP_SECONDS // 3600 == 3
    refused = found.simulated.places[STORIES].refused
    busy = [step * STEP_SECONDS // 3600 for step, share in enumerate(refused) if share > 0.1]
    assert busy == [3] * 11, "the first 5 minutes are a burst"
    assert refused.max() == pytest.approx(0.5, abs=0.03)


def test_a_job_needs_no_traffic_of_users() -> None:
    """What a job runs is metered, even if users don't run it."""
    text = """\
users: 1000
items: {Remark: 50_000}
patterns: {latest: 1 per day}
jobs:
  import: {run: Remark.create, rate: 2_000 per second, start: 3, hours: 1, one: true}
  export: {run: story, rate: 10_000 per second, start: 5, hours: 1, one: true}
"""
    found = foretold(text)
    assert {(key_.kind, key_.step * STEP_SECONDS // 3600) for key_ in found.too_hot} == {("writes", 3), ("reads", 5)}
    assert found.throttled() > 0.3
    assert found.throttled(found.after) < 0.05, "copies of one item help, too"


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.04, "0.04"),
        (9.4, "9"),
        (9.55, "10"),
        (9.99, "10"),
        (1234.5, "1,234"),
        (999_999, "999,999"),
        (2.5e6, "2.5 million"),
    ],
)
def test_amounts_are_plain_numbers(number: float, text: str) -> None:
    assert amount(number) == text


def test_a_collection_with_a_local_index_can_not_be_split() -> None:
    ledger = Table("Ledger", key("account", "at"), indexes={"ByKind": local_index("kind")})

    class Entry(Entity, table=ledger):
        account: Id
        at: Id
        kind: Id
        primary = key("{account}", "{at}")
        by_kind = ledger.ByKind("{account}", "{kind}")

    class Books(Design):
        tables, entities = [ledger], [Entry]

        @pattern("Get an entry")
        def entry(self, account: str, at: str) -> Get[Entry]:
            return get(Entry, account=account, at=at)

    text = "users: 1000\nitems: {Entry: {count: 1, fixed: true}}\npatterns:\n  entry: 864 per user and day\n"
    found = foretold(text, users=9_000_000, design=Books)
    (key_,) = found.too_hot
    assert "local secondary index" in key_.reason
    assert found.simulated.throttled["entry"] > 0.5


def test_entries_of_a_local_index_are_in_the_partitions_of_their_table() -> None:
    """60 % of 2,000 orders a second are one customer's: 2,400 units of the table and its index in one partition."""
    orders = Table("Orders-{stage=dev}", key("PK", "SK"), indexes={"ByAmount": local_index("amount:N")})

    class Order(Entity, table=orders):
        customer: Id
        order: Id
        amount: int
        primary = key("CUSTOMER#{customer}", "ORDER#{order}")
        by_amount = orders.ByAmount("CUSTOMER#{customer}", "{amount}")

    class Sales(Design):
        tables, entities = [orders], [Order]

    found = foretold(
        "users: 1000\nitems: {Order: 1M}\npopularity: {Order: {zipf: 0, hottest: 60%}}\n"
        "writes: {Order: {create: 2_000 per second}}\n",
        design=Sales,
    )
    (key_,) = found.too_hot
    assert key_.place == TableOrIndex("Orders-dev")
    assert key_.units == pytest.approx(2_400, rel=0.01)
    assert "local secondary index" in key_.reason
    assert found.simulated.throttled["Order.create"] == pytest.approx(0.6 * (1 - 1_000 / 2_400), abs=0.02)
    assert found.after is not None
    assert found.after.throttled["Order.create"] == 0


def test_a_table_without_auto_scaling_serves_what_is_declared() -> None:
    small = Table("Small-{stage=dev}", key("PK"), billing="PROVISIONED", capacity=(100, 5))

    class Thing(Entity, table=small):
        id: Id
        primary = key("THING#{id}")

    class Few(Design):
        tables, entities = [small], [Thing]

        @pattern("Get a thing")
        def thing(self, id: str) -> Get[Thing]:
            return get(Thing, id=id)

    text = "users: 1000\npopularity: {Thing: 0}\npatterns: {thing: 400 per second}\n"
    found = foretold(text, design=Few)
    assert found.simulated.throttled["thing"] == pytest.approx(0.5, abs=0.01), "400 reads take 200 units"
    assert "Small-dev has 100 read and 5 write units a second, which isn't enough." in forecast_text(found)
    scaled = foretold(f"{text}tables: {{Small-dev: {{capacity: provisioned}}}}\n", design=Few)
    assert scaled.throttled() == 0


def test_what_users_do_not_ask_for_is_too_hot_however_few_they_are() -> None:
    found = foretold("users: 1000\npatterns: {latest: {rate: 90_000 per second, items: 1}}\n")
    assert found.hot_from_users(found.too_hot[0]) == 0
    assert "too hot however few users there are" in forecast_text(found)
    assert "| any number of users |" in forecast_markdown(found)


def test_an_entry_that_is_sorted_by_its_last_change_moves_to_the_end() -> None:
    tasks = Table("Tasks", key("PK"), indexes={"Recent": key("RecentPK", "RecentSK")})

    class Task(Entity, table=tasks):
        id: Id
        title: str
        updated_at: Updated = updated()
        primary = key("TASK#{id}")
        recent = tasks.Recent("TASKS", "{updated_at}")

    class Tasks(Design):
        tables, entities = [tasks], [Task]

    found = foretold("users: 1\nitems: {Task: 1M}\nwrites: {Task: {update: 1_000 per second}}\n", design=Tasks)
    (key_,) = found.too_hot
    assert key_.place == TableOrIndex("Tasks", "Recent")
    assert key_.units == pytest.approx(2_000, rel=0.01)


def test_more_shards_are_asked_for_where_there_are_some() -> None:
    """10,000 events a second on 8 shards are 1,250 on each; 32 have room to grow."""
    logs = Table("Logs", key("PK", "SK"))

    class Event(Entity, table=logs):
        id: Id
        at: Created = created()
        primary = key("EVENTS#{shard(id, 8)}", "{at}#{id}")

    class Events(Design):
        tables, entities = [logs], [Event]

    found = foretold("users: 1\nwrites: {Event: {create: 10_000 per second}}\n", design=Events)
    (key_,) = found.too_hot
    assert key_.units == pytest.approx(1_250, rel=0.01)
    assert key_.remedy == "Spread the items over 32 shards instead of 8."


def test_items_grow_with_the_users_unless_they_are_fixed() -> None:
    text = "users: 1000\nitems:\n  Story: 500\npatterns:\n  story: 1 per user and day\n"
    touches = {}
    for name, each in {"grown": text, "fixed": text.replace("500", "{count: 500, fixed: true}")}.items():
        traffic = traffic_of(each, News)
        load = load_of(News, metered_as(traffic), traffic, users=10_000)
        touches[name] = load.sources[0].operation.touches[0].factors[0].values
    assert touches == {"grown": 5_000, "fixed": 500}


def test_the_hours_of_a_day_are_as_busy_as_they_are_said_to_be() -> None:
    flat = step_weights(traffic_of("users: 1\n", News))
    assert set(flat) == {1.0}
    evening = step_weights(traffic_of("users: 1\npeak: 3\n", News))
    assert max(evening) == pytest.approx(3, rel=0.01)
    assert sum(evening) / len(evening) == pytest.approx(1)
    assert evening.index(max(evening)) * STEP_SECONDS // 3600 == 20
    two = step_weights(traffic_of(f"users: 1\nhours: [{', '.join(['0'] * 23)}, 5]\n", News))
    assert max(two) == pytest.approx(24)


def test_the_same_seed_gives_the_same_forecast() -> None:
    text = "users: 1000\npatterns:\n  story: 864 per user and day\n"
    one, other = (json.dumps(forecast_json(foretold(text, users=100_000))) for _ in range(2))
    assert one == other


def test_reports_say_the_same() -> None:
    found = foretold("users: 1000\npatterns:\n  latest: {rate: 864 per user and day, items: 1}\n", users=9_000_000)
    data = forecast_json(found)
    assert data["hot_keys"][0]["place"] == "News.Latest"
    assert data["throttled_with_remedies"] == 0
    for text in (forecast_text(found), forecast_markdown(found)):
        assert "9 million users" in text
        assert "News.Latest" in text
        assert found.too_hot[0].remedy in text
    picture = ElementTree.fromstring(heat_map(found))
    texts = ["".join(each.itertext()) for each in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert "News.Latest 4 partitions" in texts


# Traffic files


def test_what_forecasts_read_can_be_written_again() -> None:
    text = """\
users: 1000
hours: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
items:
  Story: {count: 12, fixed: true}
popularity:
  Story: {zipf: 1.1, hottest: 2%}
jobs:
  copy: {run: Story.update, rate: 5 per second, start: 1.5, hours: 2, one: true}
"""
    traffic = traffic_of(text, News)
    again = traffic_of(traffic_text(traffic), News)
    assert (again.hours, again.popularity) == (traffic.hours, traffic.popularity)
    assert [(job.run, job.start, job.hours, job.one) for job in again.jobs] == [("Story.update", 1.5, 2, True)]
    assert again.items["Story"].fixed


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("hours: [1, 2]", "hours has 2 numbers"),
        ("popularity: {Storry: 1}", "Story"),
        ("popularity: {Story: {zipf: a}}", "isn't a number"),
        ("jobs: {a: {run: Story.updat, rate: 1 per second, start: 1, hours: 1}}", "Story.update"),
        ("jobs: {a: {run: story, start: 1, hours: 1}}", "has no rate"),
        ("jobs: {a: {run: story, rate: 1 per second, start: 30, hours: 1}}", "isn't within a day"),
    ],
)
def test_mistakes_are_named_with_their_line(lines: str, said: str) -> None:
    with pytest.raises(TrafficError, match=r":2: ") as caught:
        traffic_of(f"users: 10\n{lines}\n", News)
    assert said in str(caught.value)


# The command


@pytest.fixture
def traffic_file(tmp_path: Path) -> Path:
    file = tmp_path / "traffic.yaml"
    file.write_text("users: 1000\npatterns:\n  latest_posts: {rate: 864 per user and day, items: 1}\n")
    return file


def keyplan(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "keyplan.cli", "forecast", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_command_prints_a_forecast_and_draws_it(traffic_file: Path, tmp_path: Path) -> None:
    done = keyplan("wavyblog", "--traffic", traffic_file, "--users", "9M", "--json", "--svg", tmp_path / "heat.svg")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["hot_keys"][0]["place"] == "WavyBlog.GSI4"
    ElementTree.parse(tmp_path / "heat.svg")


def test_the_command_names_mistakes(traffic_file: Path, tmp_path: Path) -> None:
    done = keyplan("wavyblog", "--traffic", tmp_path / "none.yaml")
    assert done.returncode == 2
    assert "keyplan cost wavyblog --init" in done.stderr
    traffic_file.write_text("users: 1\npatterns:\n  latest_post: 1 per day\n")
    done = keyplan("wavyblog", "--traffic", traffic_file)
    assert done.returncode == 2
    assert f"{traffic_file}:3" in done.stderr
    assert "latest_posts" in done.stderr


def test_without_numpy_the_command_says_what_to_install(traffic_file: Path) -> None:
    script = (
        "import sys\n"
        "class Missing:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] == 'numpy':\n"
        "            raise ModuleNotFoundError('No module named numpy', name='numpy')\n"
        "sys.meta_path.insert(0, Missing())\n"
        "import keyplan.cli; keyplan.cli.main()"
    )
    arguments = ["forecast", "wavyblog", "--traffic", str(traffic_file)]
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pip install 'keyplan[forecast]'" in done.stderr


def test_hot_keys_are_found_without_simulating() -> None:
    traffic = traffic_of("users: 1000\npatterns:\n  latest: {rate: 864 per user and day, items: 1}\n", News)
    load = load_of(News, metered_as(traffic), traffic, users=9_000_000)
    assert [each.place for each in hot_keys(load)] == [LATEST]
