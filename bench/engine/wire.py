"""DynamoDB's requests as bytes, and the load client that sends them."""

from __future__ import annotations

import hmac
import http.client
import json
import os
import struct
import subprocess
import time
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from bench.engine.workload import OPERATIONS, OperationName, Request, Workload, markers

DISTINCT = {"get": 20_000, "query": 5_000, "update": 5_000, "put": 200, "transaction": 2_000, "batch": 40}
"""Requests in an operation's file. Writes of new items need few: the load client gives each its own number."""
FIRST_NUMBER = 1
ANSWER_SECONDS = 60


SECRET_VARIABLE = "BENCH_SECRET_KEY"
"""From which the load client takes the key that it signs with."""


class Credentials(NamedTuple):
    """What a server accepts that verifies signatures."""

    access_key: str
    secret_key: str


ANY = Credentials("bench", "")
"""For servers that don't verify signatures: without a secret key, a signature is right in form only."""


@dataclass(frozen=True)
class Sample:
    """One measurement. Times in microseconds."""

    count: int
    seconds: float
    mean: float
    p50: float
    p99: float
    client_cpu: float = 0.0
    """Share of one core that the load client used: far below 1, or it was the bottleneck."""

    @property
    def rate(self) -> float:
        return self.count / self.seconds if self.seconds else 0.0


class LoadError(Exception):
    """A server did not answer as it should have; the message has the first such answer."""


def encode(api: str, request: Request, credentials: Credentials = ANY) -> bytes:
    """A whole HTTP request with the headers that boto3 sends."""
    body = json.dumps(request).encode()
    now = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    signed = "content-type;host;x-amz-date;x-amz-target"
    signature = _signature(api, body, now, signed, credentials.secret_key)
    head = (
        "POST / HTTP/1.1\r\n"
        "Host: 127.0.0.1\r\n"
        "Accept-Encoding: identity\r\n"
        f"X-Amz-Target: DynamoDB_20120810.{api}\r\n"
        "Content-Type: application/x-amz-json-1.0\r\n"
        "User-Agent: Boto3/1.44.0 md/Botocore#1.44.0 ua/2.1 os/linux lang/python#3.11 cfg/retry-mode#legacy\r\n"
        f"X-Amz-Date: {now}\r\n"
        f"Authorization: AWS4-HMAC-SHA256 Credential={credentials.access_key}/{now[:8]}/us-east-1/dynamodb/aws4_request"
        f", SignedHeaders={signed}, Signature={signature}\r\n"
        "amz-sdk-invocation-id: 5f8f2c1e-6d0b-4f55-9d0e-2f6d2a4c8b11\r\n"
        "amz-sdk-request: attempt=1\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def _signature(api: str, body: bytes, now: str, signed: str, secret_key: str) -> str:
    """AWS's signature version 4. The load client makes a new one for each request that it sends."""
    if not secret_key:
        return sha256(body).hexdigest()
    values = ("application/x-amz-json-1.0", "127.0.0.1", now, f"DynamoDB_20120810.{api}")
    headers = "".join(f"{name}:{value}\n" for name, value in zip(signed.split(";"), values, strict=True))
    canonical = f"POST\n/\n\n{headers}\n{signed}\n{sha256(body).hexdigest()}"
    scope = (now[:8], "us-east-1", "dynamodb", "aws4_request")
    text = f"AWS4-HMAC-SHA256\n{now}\n{'/'.join(scope)}\n{sha256(canonical.encode()).hexdigest()}"
    key = f"AWS4{secret_key}".encode()
    for part in (*scope, text):
        key = hmac.digest(key, part.encode(), "sha256")
    return key.hex()


def write_requests(path: Path, requests: list[bytes]) -> Path:
    with path.open("wb") as file:
        for request in requests:
            file.write(struct.pack("<I", len(request)) + request)
    return path


def operation_file(folder: Path, workload: Workload, name: OperationName, credentials: Credentials = ANY) -> Path:
    api, requests = OPERATIONS[name].api, []
    for _ in range(DISTINCT[name]):
        request = workload.build(name, markers)
        if name == "transaction":
            # Every SDK adds a token of its own; two numbers of the load client make it a new one each time.
            request["ClientRequestToken"] = f"{markers()[0]}-{markers()[0]}"
        requests.append(encode(api, request, credentials))
    return write_requests(folder / f"{name}-{workload.size}-{credentials.access_key}.requests", requests)


def seed_file(folder: Path, workload: Workload, credentials: Credentials = ANY) -> tuple[Path, int]:
    requests = [encode("BatchWriteItem", batch, credentials) for batch in workload.seed_batches()]
    return write_requests(folder / f"seed-{workload.size}-{credentials.access_key}.requests", requests), len(requests)


def call(
    port: int, api: str, request: Request, seconds: float = ANSWER_SECONDS, credentials: Credentials = ANY
) -> dict[str, object]:
    """One request outside the measuring."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        head, _, body = encode(api, request, credentials).partition(b"\r\n\r\n")
        lines = [line.partition(": ") for line in head.decode().split("\r\n")[1:]]
        connection.request("POST", "/", body=body, headers={name: value for name, _, value in lines})
        answer = connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise LoadError(f"{api}: {answer.status} {text[:300].decode(errors='replace')}")
        decoded: dict[str, object] = json.loads(text)
        return decoded
    finally:
        connection.close()


class LoadClient:
    """Runs the load client against one server and keeps count of the numbers that its items have taken."""

    def __init__(self, binary: Path, port: int, secret_key: str = "") -> None:
        self._binary = binary
        self._port = port
        self._environment = {**os.environ, SECRET_VARIABLE: secret_key} if secret_key else None
        self._number = FIRST_NUMBER

    def run(self, requests: Path, *, clients: int, seconds: float, count: int, expects: str | None) -> Sample:
        command = [str(self._binary), str(self._port), str(requests), str(clients), str(count), str(seconds)]
        command += [str(self._number)] + ([expects] if expects else [])
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=seconds + 120, env=self._environment
            )
        except subprocess.TimeoutExpired as error:
            raise LoadError(f"not done {error.timeout:.0f} s later") from error
        if done.returncode != 0:
            raise LoadError(done.stderr.strip())
        figures = json.loads(done.stdout)
        self._number = figures["next_number"]
        if figures["failed"] or not figures["count"]:
            raise LoadError(f"{figures['failed']} wrong answers, the first: {figures['failure']}")
        elapsed = figures["seconds"]
        return Sample(
            figures["count"], elapsed, figures["mean"], figures["p50"], figures["p99"], figures["cpu"] / elapsed
        )
