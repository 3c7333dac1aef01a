"""How walks are counted; the figures themselves are reported by `python -m tools.walks`."""

import threading

from keyplan.design import make_id
from tools.walks import Counting, Walk, walks


def test_only_entries_into_keyplan_are_counted_and_only_while_counting() -> None:
    counting = Counting()
    with counting.installed():
        make_id()
        with counting.on():
            sorted([2, 1], key=lambda number: number)
        assert counting.files == []
        with counting.on():
            make_id()
        make_id()
    made = list(counting.files)
    assert len(made) > 0
    assert len(set(made)) == 1
    with counting.installed(), counting.on():
        make_id()
        make_id()
    assert counting.files == made * 2


def test_threads_are_counted() -> None:
    counting = Counting()
    with counting.installed(), counting.on():
        thread = threading.Thread(target=make_id)
        thread.start()
        thread.join()
    assert len(counting.files) > 0


def test_all_four_walks_are_reported_and_larger_ones_are_larger() -> None:
    put, get, update, post = walks()
    assert [each.name for each in (put, get, update, post)] == [
        "PutItem over the wire",
        "get in the data layer",
        "update of an index key and a guard",
        "POST a post",
    ]
    assert _larger(update, get)
    assert _larger(post, update)
    assert put.modules > 5


def _larger(one: Walk, other: Walk) -> bool:
    return one.calls > other.calls and one.modules > other.modules
