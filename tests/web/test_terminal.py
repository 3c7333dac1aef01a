"""What `keyplan serve` shows in a terminal, and what it writes elsewhere."""

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from tests.web.command import COMMAND, environment, keyplan, serve, started

COLOR = re.compile(r"\x1b\[[0-9;]*m")


class Terminal:
    """A command in a terminal, and what it has shown so far."""

    def __init__(self, folder: Path, *arguments: str, **given: str) -> None:
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
        own = {name: value for name, value in environment(given).items() if name not in ("NO_COLOR", "COLUMNS")}
        self.process = subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=folder,
            env={**own, "TERM": "xterm-256color", **given},
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        self._master = master
        self._shown = b""
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        with suppress(OSError):  # how Linux says that all processes have closed it
            while part := os.read(self._master, 65536):
                self._shown += part
        os.close(self._master)

    @property
    def raw(self) -> str:
        return self._shown.decode("utf-8", "replace").replace("\r\n", "\n")

    @property
    def text(self) -> str:
        return COLOR.sub("", self.raw)

    def until(self, pattern: str) -> re.Match[str]:
        end = time.monotonic() + 60
        while not (found := re.search(pattern, self.text)):
            assert time.monotonic() < end, self.text
            assert self.process.poll() is None, self.text
            time.sleep(0.02)
        return found

    def stop(self) -> int:
        """Press Ctrl+C."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        code = self.process.wait(20)
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self._reader.join()
        return code


@contextmanager
def terminal(folder: Path, *arguments: str, **given: str) -> Iterator[Terminal]:
    made = Terminal(folder, *arguments, **given)
    try:
        yield made
        assert made.stop() == 0, made.text
    finally:
        made.stop()


DEMO = ("serve", "--demo", "--dev", "--port", "0", "--system", "wavyblog", "--system", "hacktracker")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose file has the demo data once the first test has run."""
    return tmp_path_factory.mktemp("filled")


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_terminal_shows_where_everything_is(filled: Path, workers: str) -> None:
    with terminal(filled, *DEMO, "--workers", workers) as shown:
        url = shown.until(r"Keyplan on (http://127\.0\.0\.1:\d+)\. Press Ctrl\+C to stop\.")[1]
        shown.until("Mode ")
        assert re.search(rf"WavyBlog +{url}/wavyblog/", shown.text)
        assert re.search(r"Sign in as mira_berg \(admin, password wavy-demo\)", shown.text)
        assert re.search(rf"HackTracker +{url}/hacktracker/", shown.text)
        assert re.search(r"Sign in as Casey Rivera \(owns the Harbor Herons\), .* and 3 more", shown.text)
        assert re.search(rf"Data +{re.escape(str(filled / 'keyplan.db'))}", shown.text)
        assert re.search(rf"Uploads +{re.escape(str(filled / 'keyplan.db.media'))}", shown.text)
        login = {"user": "mira_berg", "password": "wavy-demo"}
        assert httpx.post(f"{url}/api/wavyblog/login", json=login, timeout=30).status_code == 200
        shown.until(r"\d\d:\d\d:\d\d  200  POST   /api/wavyblog/login  \d+ ms, \d+ calls, \S+ units")
        assert "{" not in shown.text, "no JSON"
        assert "Started server process" not in shown.text


def test_a_line_for_each_request_has_its_status_in_color(tmp_path: Path) -> None:
    with terminal(tmp_path, "serve", "--port", "0", "--system", "wavyblog") as shown:
        url = shown.until(r"Keyplan on (\S+)\.")[1]
        for path in ("/api/wavyblog/posts", "/api/wavyblog/me"):
            httpx.get(f"{url}{path}", timeout=30)
        shown.until("401  GET    /api/wavyblog/me")
        assert "\x1b[32m200\x1b[0m  GET    /api/wavyblog/posts" in shown.raw
        assert "\x1b[33m401\x1b[0m  GET    /api/wavyblog/me" in shown.raw
        assert "Sign in as" not in shown.text, "there is nobody without demo data"


def test_no_color(tmp_path: Path) -> None:
    with terminal(tmp_path, "serve", "--port", "0", "--system", "wavyblog", NO_COLOR="1") as shown:
        url = shown.until(r"Keyplan on (\S+)\.")[1]
        httpx.get(f"{url}/api/wavyblog/posts", timeout=30)
        shown.until("200  GET    /api/wavyblog/posts")
        assert not re.search(r"\x1b\[[0-9;]*3\d", shown.raw), "bold is not a color"


def test_json_in_a_terminal_if_asked_for(tmp_path: Path) -> None:
    with terminal(tmp_path, "serve", "--port", "0", "--system", "wavyblog", "--log-format", "json") as shown:
        url = shown.until(r"Keyplan on (\S+)\.")[1]
        httpx.get(f"{url}/api/wavyblog/posts", timeout=30)
        line = shown.until(r'(\{.*"route":"/api/wavyblog/posts".*\})\n')[1]
        assert json.loads(line)["status"] == 200


def test_text_elsewhere_if_asked_for(tmp_path: Path) -> None:
    with serve(tmp_path, KEYPLAN_LOG_FORMAT="text") as server:
        server.get("/api/wavyblog/posts")
        server.stop()
        assert re.search(r"\d  200  GET    /api/wavyblog/posts  \d+ ms", server.log.read_text())
        assert "\x1b" not in server.log.read_text()


def test_an_error_is_shown_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text(BROKEN)
    with terminal(tmp_path, "serve", "--port", "0", "--system", "broken:SYSTEM") as shown:
        url = shown.until(r"Keyplan on (\S+)\.")[1]
        answer = httpx.get(f"{url}/api/broken/fails", timeout=30)
        shown.until(r"error  unexpected  request_id=\S+\nTraceback")
        shown.until(r"FileNotFoundError: .*/secret/place")
    assert answer.status_code == 500
    assert answer.json()["detail"] == "Something went wrong on our side."
    assert "secret" not in answer.text


BROKEN = """
from keyplan.design import Design, Entity, Id, Table, key
from keyplan.web import ANYONE, Api, Service, System, allow

table = Table("Broken", key("PK", "SK"))

class Thing(Entity, table=table):
    thing_id: Id
    primary = key("THING#{thing_id}", "METADATA")

class Things(Design):
    tables, entities = [table], [Thing]

class Broken(Service[Things]):
    @allow(ANYONE)
    def fails(self) -> list[str]:
        "Fail."
        return [open("/secret/place").read()]

api = Api(Broken)
api.get("/fails", Broken.fails)
SYSTEM = System(name="broken", title="Broken", summary="Fails.", design=Things, api=api)
"""


# The network


def test_a_warning_where_others_can_reach_it(tmp_path: Path) -> None:
    with serve(tmp_path, "--host", "0.0.0.0") as server:
        assert server.stop() == 0
        (warning,) = [line for line in server.lines if line["level"] == "warning"]
    assert "0.0.0.0 isn't a loopback address" in warning["message"]
    assert "connections aren't encrypted" in warning["message"]
    assert "KEYPLAN_TRUSTED_PROXIES" in warning["message"]


@pytest.mark.parametrize("given", [{}, {"KEYPLAN_HOST": "0.0.0.0", "KEYPLAN_TRUSTED_PROXIES": '["10.0.0.1"]'}])
def test_no_warning_on_this_machine_or_behind_a_proxy(tmp_path: Path, given: dict[str, str]) -> None:
    with serve(tmp_path, **given) as server:
        assert server.stop() == 0
        assert {line["level"] for line in server.lines} == {"info"}


# The DynamoDB endpoint of `serve`


def test_the_endpoint_needs_keys_where_others_can_reach_it(tmp_path: Path) -> None:
    exposed = ({"KEYPLAN_HOST": "0.0.0.0"}, {"KEYPLAN_DYNAMODB_HOST": "0.0.0.0"})
    for given in exposed:
        refused = keyplan(tmp_path, "serve", "--port", "0", "--dynamodb-port", "0", **given)
        assert refused.returncode == 2
        assert "0.0.0.0 isn't a loopback address. Set an access key for it" in refused.stderr
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kept", ["file", "variable"])
def test_the_endpoint_verifies_signatures(tmp_path: Path, kept: str) -> None:
    import boto3
    from botocore.exceptions import ClientError

    given = {"KEYPLAN_DYNAMODB_ACCESS_KEY": "AKID", "KEYPLAN_DYNAMODB_HOST": "0.0.0.0"}
    if kept == "file":
        (tmp_path / "key.txt").write_text("right\n")
        given["KEYPLAN_DYNAMODB_SECRET_KEY_FILE"] = "key.txt"
    else:
        given["KEYPLAN_DYNAMODB_SECRET_KEY"] = "right"
    arguments = ("serve", "--system", "wavyblog", "--port", "0", "--dynamodb-port", "0")
    with started(tmp_path, *arguments, **given) as command:
        url = command.output.readline().split()[3].replace("0.0.0.0", "127.0.0.1")
        for secret, accepted in (("right", True), ("wrong", False)):
            client = boto3.client("dynamodb", endpoint_url=url, aws_access_key_id="AKID", aws_secret_access_key=secret)
            if accepted:
                assert "WavyBlog" in client.list_tables()["TableNames"]
            else:
                with pytest.raises(ClientError, match="InvalidSignatureException"):
                    client.list_tables()
            client.close()
        command.output.readline()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"ACCESS_KEY": "AKID"}, "There is an access key, but no secret key. Set KEYPLAN_DYNAMODB_SECRET_KEY_FILE"),
        ({"SECRET_KEY": "x"}, "There is a secret key, but no access key. Set KEYPLAN_DYNAMODB_ACCESS_KEY."),
        ({"ACCESS_KEY": "A", "SECRET_KEY_FILE": "none"}, "Can't read the secret key in none: No such file"),
        ({"ACCESS_KEY": "A", "SECRET_KEY_FILE": "empty"}, "Can't read the secret key in empty: the file is empty"),
        ({"ACCESS_KEY": "A", "SECRET_KEY_FILE": "empty", "SECRET_KEY": "x"}, "The secret key is given twice"),
    ],
)
@pytest.mark.parametrize("command", [("serve", "--port", "0", "--dynamodb-port", "0"), ("dynamodb", "--memory")])
def test_incomplete_keys_are_refused(
    tmp_path: Path, command: tuple[str, ...], given: dict[str, str], told: str
) -> None:
    (tmp_path / "empty").touch()
    refused = keyplan(tmp_path, *command, **{f"KEYPLAN_DYNAMODB_{name}": value for name, value in given.items()})
    assert refused.returncode == 2
    assert refused.stderr.startswith(f"keyplan: {told}"), refused.stderr


def test_a_secret_on_the_command_line_is_refused(tmp_path: Path) -> None:
    refused = keyplan(tmp_path, "dynamodb", "--access-key", "AKID", "--secret-key", "hush")
    assert refused.returncode == 2
    words = " ".join(re.sub(r"[│╭╮╰╯─]", " ", refused.stderr).split())
    assert "Use --secret-key-file FILE, or the environment variable KEYPLAN_DYNAMODB_SECRET_KEY" in words
    assert "hush" not in refused.stderr
    assert "--secret-key " not in keyplan(tmp_path, "dynamodb", "--help").stdout
