"""Random writes and searches compared with a simple model, across threads, processes and reopened files.

The model adds up with `math.fsum`, so it shares no arithmetic with the engine. Vectors have few different numbers, so
that many scores are equal.
"""

import math
import os
import random
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from keyplan.engine import Engine
from keyplan.engine.vectors import matrix, memory
from keyplan.engine.vectors.memory import VectorMemory
from tests.engine.vectors.support import create, scored, vector, vector_index

LONG = bool(os.environ.get("KEYPLAN_TEST_LONG"))
STEPS = 3000 if LONG else 200
SEEDS = range(20 if LONG else 2)
DIMENSIONS = 5
INDEXES = {
    "Cosine": vector_index("Cosine", dimensions=DIMENSIONS, distance="COSINE", filters=["kind"]),
    "Euclid": vector_index("Euclid", dimensions=DIMENSIONS, partition="tenant", filters=["kind"]),
    "Dot": vector_index("Dot", dimensions=DIMENSIONS, distance="DOT_PRODUCT", projection="KEYS_ONLY"),
}


def as_stored(number: str) -> float:
    (stored,) = struct.unpack("<f", struct.pack("<f", float(number)))
    return float(stored)


class Model:
    """The items by key, in the order in which they were created."""

    def __init__(self) -> None:
        self.items: dict[str, dict[str, Any]] = {}

    def put(self, pk: str, item: dict[str, Any]) -> None:
        self.items[pk] = item

    def search(self, name: str, values: list[str], equal: dict[str, str], count: int) -> list[tuple[str, float]]:
        index = INDEXES[name]
        wanted = [as_stored(value) for value in values]
        results = []
        for order, (pk, item) in enumerate(self.items.items()):
            if "v" not in item or (name == "Euclid" and "tenant" not in item):
                continue
            if all(item.get(attribute) == value for attribute, value in equal.items()):
                score = self._score(index["DistanceFunction"], [as_stored(value) for value in item["v"]], wanted)
                results.append((-score if name == "Dot" else score, order, pk))
        return [(pk, 0.0 - score if name == "Dot" else score) for score, _, pk in sorted(results)[:count]]

    @staticmethod
    def _score(distance: str, one: list[float], other: list[float]) -> float:
        product = math.fsum(a * b for a, b in zip(one, other, strict=True))
        if distance == "DOT_PRODUCT":
            return product
        if distance == "EUCLIDEAN":
            return math.sqrt(math.fsum((a - b) ** 2 for a, b in zip(one, other, strict=True)))
        lengths = math.hypot(*one) * math.hypot(*other)
        return round(1 - product / lengths, 12) if lengths else 1.0


class Run:
    """A sequence of random operations on an engine and on the model."""

    def __init__(self, path: Path, seed: int, patches: pytest.MonkeyPatch) -> None:
        self.patches = patches
        self.chance = random.Random(seed)
        self.path = str(path)
        self.model = Model()
        self.engine = Engine(self.path)
        self.other = Engine(self.path)
        create(self.engine, *INDEXES.values())

    def close(self) -> None:
        self.engine.close()
        self.other.close()

    def step(self) -> None:
        operation = self.chance.choices(
            [self.put, self.update, self.delete, self.batch, self.search, self.reopen, self.shrink],
            [20, 15, 10, 5, 40, 2, 2],
        )[0]
        operation()

    def any_engine(self) -> Engine:
        return self.chance.choice([self.engine, self.other])

    def key(self) -> str:
        return str(self.chance.randrange(40))

    def values(self) -> list[str]:
        some = ["0", "0", "1", "-1", "2", "0.1", "-0.333333333333", "1e-3", "1000"]
        return [self.chance.choice(some) for _ in range(DIMENSIONS)]

    def item(self) -> dict[str, Any]:
        item: dict[str, Any] = {}
        if self.chance.random() < 0.9:
            item["v"] = self.values()
        if self.chance.random() < 0.8:
            item["tenant"] = self.chance.choice("ab")
        if self.chance.random() < 0.7:
            item["kind"] = self.chance.choice("xyz")
        return item

    @staticmethod
    def stored(pk: str, item: dict[str, Any]) -> dict[str, Any]:
        texts = {name: {"S": text} for name, text in item.items() if name != "v"}
        return {"pk": {"S": pk}, **texts, **({"v": vector(*item["v"])} if "v" in item else {})}

    def put(self) -> None:
        pk, item = self.key(), self.item()
        self.any_engine().put_item(TableName="Things", Item=self.stored(pk, item))
        self.model.put(pk, item)

    def batch(self) -> None:
        keys = self.chance.sample(range(40), 8)
        requests: list[Any] = []
        for pk in map(str, keys):
            if self.chance.random() < 0.3:
                requests.append({"DeleteRequest": {"Key": {"pk": {"S": pk}}}})
                self.model.items.pop(pk, None)
            else:
                item = self.item()
                requests.append({"PutRequest": {"Item": self.stored(pk, item)}})
                self.model.put(pk, item)
        # The engine writes new items before others, so equal scores would be in another order than here.
        for request in requests:
            self.any_engine().batch_write_item(RequestItems={"Things": [request]})

    def update(self) -> None:
        pk, item = self.key(), self.item()
        present = self.model.items.get(pk)
        removed = [name for name in ("v", "tenant", "kind") if name not in item and self.chance.random() < 0.5]
        setting = ", ".join(f"{name} = :{name}" for name in item)
        text = (f"SET {setting} " if item else "") + (f"REMOVE {', '.join(removed)}" if removed else "")
        if not item:
            return
        values = {f":{name}": value for name, value in self.stored(pk, item).items() if name != "pk"}
        self.any_engine().update_item(
            TableName="Things", Key={"pk": {"S": pk}}, UpdateExpression=text, ExpressionAttributeValues=values
        )
        left = {name: value for name, value in (present or {}).items() if name not in removed}
        self.model.put(pk, {**left, **item})

    def delete(self) -> None:
        pk = self.key()
        self.any_engine().delete_item(TableName="Things", Key={"pk": {"S": pk}})
        self.model.items.pop(pk, None)

    def search(self) -> None:
        name, values, count = self.chance.choice(list(INDEXES)), self.values(), self.chance.choice([1, 3, 10, 100])
        equal = {"tenant": self.chance.choice("abc")} if name == "Euclid" else {}
        if name != "Dot" and self.chance.random() < 0.4:
            equal["kind"] = self.chance.choice("xyw")
        found = scored(self.any_engine(), *values, IndexName=name, TopK=count, equal=equal or None)
        wanted = self.model.search(name, values, equal, count)
        assert [score for _, score in found] == pytest.approx([score for _, score in wanted], rel=1e-12, abs=2e-12)
        # Of scores that are equal but for rounding, the model can't tell the order.
        if len({round(score, 9) for _, score in wanted}) == len({score for _, score in wanted}):
            assert found == [(pk, score) for (pk, _), (_, score) in zip(wanted, found, strict=True)]

    def reopen(self) -> None:
        self.other.close()
        self.other = Engine(self.path)

    def shrink(self) -> None:
        """Search in the file from now on, or in memory again, or with a log that remembers little."""
        budget = self.chance.choice([0, 3000, 10**8])
        self.any_engine().database._vectors = VectorMemory(budget)
        self.patches.setattr(memory, "VECTOR_LOG", self.chance.choice([3, 10_000]))


@pytest.mark.parametrize("seed", SEEDS)
def test_searches_find_what_the_model_finds(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(tmp_path / "model.db", seed, monkeypatch)
    for _ in range(STEPS):
        run.step()
    run.close()
    run.engine = run.other = Engine(run.path)
    for _ in range(20):
        run.search()
    run.engine.close()


def test_a_second_process_writes_while_this_one_searches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(tmp_path / "model.db", 99, monkeypatch)
    program = (
        "import sys\n"
        "from keyplan.engine import Engine\n"
        "from tests.engine.vectors.support import vector\n"
        "with Engine(sys.argv[1]) as engine:\n"
        "    for line in sys.stdin:\n"
        "        pk, *values = line.split()\n"
        "        key = {'pk': {'S': pk}}\n"
        "        if values:\n"
        "            engine.put_item(TableName='Things', Item={**key, 'v': vector(*values), 'tenant': {'S': 'a'}})\n"
        "        else:\n"
        "            engine.delete_item(TableName='Things', Key=key)\n"
        "        print('done', flush=True)\n"
    )
    arguments = [sys.executable, "-c", program, run.path]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        for _ in range(60):
            pk, values = run.key(), run.values() if run.chance.random() < 0.8 else []
            child.stdin.write(" ".join([pk, *values]) + "\n")
            child.stdin.flush()
            assert child.stdout.readline() == "done\n"
            if values:
                run.model.put(pk, {"v": values, "tenant": "a"})
            else:
                run.model.items.pop(pk, None)
            run.search()
            if run.chance.random() < 0.3:
                run.put()
        child.stdin.close()
        assert child.wait(30) == 0
    run.close()


def test_many_vectors_in_several_blocks(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the vectors differ by less than products of 32-bit floats can tell."""
    monkeypatch.setattr(matrix, "BLOCK_BYTES", 100_000)
    distances = ["COSINE", "EUCLIDEAN", "DOT_PRODUCT"]
    create(engine, *(vector_index(each, dimensions=200, distance=each) for each in distances))
    chance = random.Random(7)
    center = [chance.gauss(0, 1) for _ in range(200)]
    vectors: list[list[str]] = []
    for number in range(500):
        spread = 1e-6 if number % 2 else 1.0
        vectors.append([f"{value + chance.gauss(0, spread):.9f}" for value in center])
    for start in range(0, len(vectors), 25):
        items = [{"pk": {"S": str(n)}, "v": vector(*vectors[n])} for n in range(start, start + 25)]
        puts: Any = {"Things": [{"PutRequest": {"Item": item}} for item in items]}
        engine.batch_write_item(RequestItems=puts)
    query = [f"{value + chance.gauss(0, 1e-5):.9f}" for value in center]
    for distance in distances:
        wanted = sorted(exact_score(distance, values, query) for values in vectors)[:30]
        found = [score for _, score in scored(engine, *query, IndexName=distance, TopK=30)]
        if distance == "DOT_PRODUCT":
            found = [-score for score in found]
        assert found == pytest.approx(wanted, rel=1e-9, abs=2e-12)


def exact_score(distance: str, one: list[str], other: list[str]) -> float:
    score = Model._score(distance, [as_stored(each) for each in one], [as_stored(each) for each in other])
    return -score if distance == "DOT_PRODUCT" else score
