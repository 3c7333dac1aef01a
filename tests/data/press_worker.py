"""A process that handles the articles' stream: `python -m tests.data.press_worker PATH LOG LEASE_SECONDS`.

Its handler writes a line for each record: the article, its version, the record's sequence number, the process.
"""

import os
import sys
import time

from keyplan.data import Store
from keyplan.data.streams import ItemChange, StreamRunner, on
from keyplan.engine import Engine
from tests.data.press import Article, Press, articles


@on(Article, "INSERT", "MODIFY")
def write_down(change: ItemChange[Article], log: int) -> None:
    assert change.after is not None
    line = f"{change.after.slug} {change.after.version} {change.sequence} {os.getpid()}\n"
    os.write(log, line.encode())
    time.sleep(0.005)


def main() -> None:
    path, log, seconds = sys.argv[1:]
    file = os.open(log, os.O_APPEND | os.O_CREAT | os.O_WRONLY)
    with Engine(path) as engine:
        store = Store(Press(), engine)
        runner = StreamRunner(store, articles, [write_down], file, engine, lease_seconds=float(seconds))
        print("ready", flush=True)
        while True:
            if not runner.run_once():
                time.sleep(0.02)


if __name__ == "__main__":
    main()
