"""A client that sends exactly the given bytes and reads responses strictly."""

import socket
import zlib
from typing import NamedTuple, Self
from urllib.parse import urlsplit

import orjson

SIGNED = {
    "Host": "localhost",
    "Content-Type": "application/x-amz-json-1.0",
    "X-Amz-Date": "20260102T030405Z",
    "Authorization": "AWS4-HMAC-SHA256 Credential=AKID/20260102/us-east-1/dynamodb/aws4_request, "
    "SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature=" + "0" * 64,
}


class Response(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, object]:
        value = orjson.loads(self.body)
        assert isinstance(value, dict)
        return value

    @property
    def error(self) -> tuple[int, str]:
        return self.status, str(self.json["__type"]).partition("#")[2]


def post(
    operation: str = "Echo", body: bytes = b"{}", headers: dict[str, str | None] | None = None, version: str = "1.1"
) -> bytes:
    """The bytes of a signed request; a header of None is left out."""
    fields: dict[str, str | None] = {
        **SIGNED,
        "X-Amz-Target": f"DynamoDB_20120810.{operation}",
        "Content-Length": str(len(body)),
        **(headers or {}),
    }
    lines = [f"{name}: {value}\r\n" for name, value in fields.items() if value is not None]
    return f"POST / HTTP/{version}\r\n{''.join(lines)}\r\n".encode("latin-1") + body


class Client:
    """One connection."""

    def __init__(self, url: str, receive_buffer: int | None = None) -> None:
        parts = urlsplit(url)
        assert parts.hostname is not None
        assert parts.port is not None
        self.socket = socket.socket()
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(10)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self.socket.connect((parts.hostname, parts.port))
        except OSError:
            self.socket.close()
            raise
        self._reader = self.socket.makefile("rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._reader.close()
        self.socket.close()

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def line(self) -> str:
        return self._reader.readline().decode()

    def read(self, *, has_body: bool = True) -> Response:
        """The next response, its checksum compared."""
        status = int(self.line().split()[1])
        headers: dict[str, str] = {}
        while (line := self.line()) != "\r\n":
            assert line.endswith("\r\n")
            name, _, value = line.strip().partition(": ")
            assert name.lower() not in headers
            headers[name.lower()] = value
        body = self._reader.read(int(headers["content-length"])) if has_body else b""
        assert not has_body or int(headers["x-amz-crc32"]) == zlib.crc32(body)
        assert len(headers["x-amzn-requestid"]) == 52
        return Response(status, headers, body)

    def ask(self, data: bytes) -> Response:
        self.send(data)
        return self.read()

    def at_end(self) -> bool:
        """Whether the server has closed the connection."""
        return self._reader.read(1) == b""
