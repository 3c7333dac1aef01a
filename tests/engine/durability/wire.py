"""A fast client for an endpoint that never retries, so that a test knows exactly which requests were answered."""

import socket
from typing import Any, Self

import orjson

_STREAMS = ("DescribeStream", "GetRecords", "GetShardIterator", "ListStreams")
_HEADERS = (
    "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\n"
    "X-Amz-Date: 20260102T030405Z\r\n"
    "Authorization: AWS4-HMAC-SHA256 Credential=AKID/20260102/us-east-1/dynamodb/aws4_request, "
    f"SignedHeaders=host;x-amz-date, Signature={'0' * 64}\r\n"
)


class Refused(Exception):
    """The endpoint answered with an error."""

    def __init__(self, status: int, body: dict[str, Any]) -> None:
        self.status = status
        self.code = str(body["__type"]).partition("#")[2]
        self.message = str(body.get("message") or body.get("Message") or "")
        super().__init__(f"{status} {self.code}: {self.message}")


class Wire:
    """One connection. Raises OSError if the endpoint ends."""

    def __init__(self, port: int, timeout: float = 30) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._reader = self._socket.makefile("rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._reader.close()
        self._socket.close()

    def call(self, operation: str, **request: Any) -> dict[str, Any]:
        return self.post(operation, orjson.dumps(request))

    def post(self, operation: str, body: bytes) -> dict[str, Any]:
        service = "DynamoDBStreams_20120810" if operation in _STREAMS else "DynamoDB_20120810"
        head = f"{_HEADERS}X-Amz-Target: {service}.{operation}\r\nContent-Length: {len(body)}\r\n\r\n"
        self._socket.sendall(head.encode() + body)
        line = self._reader.readline()
        if not line:
            raise ConnectionResetError("the endpoint has closed the connection")
        status = int(line.split()[1])
        length = 0
        while (header := self._reader.readline()) not in (b"\r\n", b""):
            name, _, value = header.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        content = self._reader.read(length)
        if len(content) < length:
            raise ConnectionResetError("the endpoint has closed the connection")
        answer: dict[str, Any] = orjson.loads(content or b"{}")
        if status != 200:
            raise Refused(status, answer)
        return answer
