"""Sizes and numbers of items from real tables."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from keyplan.apps.wavyblog.design import DESIGN
from keyplan.apps.wavyblog.entities import Post
from keyplan.capacity.quantities import Rate
from keyplan.capacity.sampling import Sample, sample_tables, with_sample
from keyplan.capacity.traffic import ItemTraffic, Traffic
from keyplan.cli import main
from keyplan.data import Store, create
from keyplan.design.examples import example_items
from keyplan.engine import Engine


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "blog.db"
    with Engine(str(path), ttl_interval=None) as engine:
        store = Store(DESIGN(), engine)
        store.create_tables()
        for item in example_items(DESIGN, range(1, 21), {Post: 5000}):
            store.run(create(item))
    return path


def test_items_are_counted_and_weighed(file: Path) -> None:
    with Engine(str(file), ttl_interval=None) as engine:
        whole = sample_tables(DESIGN(), engine, 1000)
        part = sample_tables(DESIGN(), engine, 30)
    assert (whole["Post"].count, whole["User"].count) == (20, 20)
    assert whole["Post"].size == pytest.approx(5000, rel=0.05)
    assert 0 < part["Post"].count < 60  # by its share of the sample


def test_what_the_traffic_says_comes_first() -> None:
    growth = Rate(5, "day")
    traffic = Traffic("t", items={"Post": ItemTraffic(7, growth=growth), "User": ItemTraffic(size=800)})
    sample = {"Post": Sample(20, 5000), "User": Sample(30, 300), "Image": Sample(1, 100)}
    assert with_sample(traffic, sample).items == {
        "Post": ItemTraffic(7, 5000, growth),
        "User": ItemTraffic(30, 800),
        "Image": ItemTraffic(1, 100),
    }


def test_the_command_takes_them_from_tables(file: Path, tmp_path: Path) -> None:
    traffic = tmp_path / "traffic.yaml"
    traffic.write_text("patterns:\n  post: 5 per second\n", "utf-8")
    command = ["cost", "wavyblog", "--traffic", str(traffic), "--json"]
    plain = json.loads(CliRunner().invoke(main, command).stdout)
    result = CliRunner().invoke(main, [*command, "--sample", "1000", "--path", str(file)])
    assert result.exit_code == 0, result.output
    sampled = json.loads(result.stdout)
    assert {each["name"] for each in sampled["lines"]} - {each["name"] for each in plain["lines"]} == {
        "WavyBlog: storage"
    }
    (post,) = [each for each in sampled["lines"] if each["name"] == "post"]
    assert post["units"] == [{"table": "WavyBlog", "index": None, "reads": 1.0}]  # more than 4 KB
    missing = CliRunner().invoke(main, [*command, "--sample", "10", "--path", str(tmp_path / "no.db")])
    assert (missing.exit_code, "file not found" in missing.stderr) == (2, True)
