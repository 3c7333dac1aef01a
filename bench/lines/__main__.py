"""Runs every slice against an endpoint of its own, and prints the table. The libraries are installed in `.bench/`.

With PynamoDB, its examples in docs/migrating.md run too.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable

import boto3

from bench.data.process import PEERS, SAME_BOTO3
from bench.engine import cache
from bench.engine.cache import ROOT, Unavailable
from bench.lines import count, scenario
from keyplan.engine import Database
from keyplan.engine.wire import serve_in_thread

ELECTRODB = "electrodb@3.9.3"
AWS_SDK = "@aws-sdk/client-dynamodb@3.1162.0"
RUN_PYNAMODB = "from bench.lines import pynamodb_shop, scenario; scenario.run(pynamodb_shop.Shop())"


def run_keyplan(url: str) -> None:
    from bench.lines.keyplan_shop import Shop

    scenario.run(Shop(_client(url)))


def run_boto3(url: str) -> None:
    from bench.lines.boto3_shop import Shop

    scenario.run(Shop(_client(url)))


def run_pynamodb(url: str) -> None:
    python = cache.python_peer("lines-pynamodb", PEERS["pynamodb"], *SAME_BOTO3) / "python"
    keys = {"SHOP_ENDPOINT": url, "AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any"}
    page = (ROOT / "docs" / "migrating.md").read_text("utf-8")
    guide = "\n".join(re.findall(r"^```py\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
    for code in (RUN_PYNAMODB, guide):
        subprocess.run([str(python), "-c", code], cwd=ROOT, env={**os.environ, **keys}, check=True)


def run_electrodb(url: str) -> None:
    modules = cache.node_peer("lines-electrodb", ELECTRODB, AWS_SDK)
    for name in ("scenario.mjs", "electrodb_shop.mjs"):  # Node.js looks for packages beside a module
        shutil.copy(count.FOLDER / name, modules.parent)
    subprocess.run(["node", "--no-warnings", str(modules.parent / "scenario.mjs"), url], check=True)


def _client(url: str) -> object:
    return boto3.Session("any", "any", region_name="us-east-1").client("dynamodb", endpoint_url=url)


RUNS: dict[str, Callable[[str], None]] = dict(
    zip(count.SLICES, (run_keyplan, run_pynamodb, run_electrodb, run_boto3), strict=True)
)


def main() -> None:
    cache.prepare()
    skipped = False
    for name, run in RUNS.items():
        database = Database()
        with serve_in_thread(database) as url:
            try:
                run(url)
                print(f"{name}: all {len(scenario.FEATURES)} features", file=sys.stderr)
            except Unavailable as reason:
                skipped = True
                print(f"*** NOT RUN: {name}: {reason} ***", file=sys.stderr)
        database.close()
    print(count.table())
    sys.exit(skipped)


if __name__ == "__main__":
    main()
