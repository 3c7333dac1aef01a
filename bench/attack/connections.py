"""Attacks with connections: silent, half-sent, slow, idle, unread."""

import re
import select
import socket
import time
from collections.abc import Callable
from contextlib import suppress

from bench.attack.target import LONG, Outcome, Target

_HEAD = b"POST /api/wavyblog/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
_GET = b"GET /api/wavyblog/posts?limit=50 HTTP/1.1\r\nHost: x\r\n\r\n"


def silent(target: Target) -> Outcome:
    """Open connections from one address, and send nothing."""
    address = target.new_address()
    made = [target.connect(address) for _ in range(1100)]
    return _closed(made, lambda each: None)


def slow_headers(target: Target) -> Outcome:
    """Send a byte of the headers at a time."""
    address = target.new_address()
    made = [target.connect(address, b"GET / HTTP/1.1\r\nX: ") for _ in range(200)]
    return _closed(made, lambda each: each.send(b"x"))


def slow_bodies(target: Target) -> Outcome:
    """Send a byte of the body at a time."""
    address = target.new_address()
    made = [target.connect(address, _HEAD + b"Content-Length: 1000\r\n\r\n{") for _ in range(100)]
    return _closed(made, lambda each: each.send(b" "))


def idle(target: Target) -> Outcome:
    """Keep connections open after an answer."""
    address = target.new_address()
    made = [target.connect(address, _GET) for _ in range(100)]
    return _closed(made, lambda each: None)


def unread_answers(target: Target) -> Outcome:
    """Ask for a lot on each connection, and read nothing until the server has given up."""
    made, wanted, before = [], 250, _ended(target)
    for _ in range(3):
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(LONG)
        connection.bind((target.new_address(), 0))
        connection.connect(target.place)
        connection.sendall(_GET * wanted)
        made.append(connection)
    end = time.monotonic() + 3 * LONG  # on a busy machine it takes long until there is anything to read
    while _ended(target) < before + len(made) and time.monotonic() < end:
        time.sleep(0.5)
    answered = [rest(each).count(b"HTTP/1.1 ") for each in made]
    return Outcome(
        len(made), max(answered) < wanted, f"{', '.join(map(str, answered))} of {wanted} answers, then closed"
    )


def _ended(target: Target) -> int:
    """How many connections the server has ended because nobody read its answers."""
    found = re.search(r'^keyplan_connections_ended_total{limit="reading"} ([0-9.]+)', target.metrics(), re.MULTILINE)
    return int(float(found[1])) if found else 0


def rest(connection: socket.socket) -> bytes:
    """What still arrives until the connection is closed."""
    received = bytearray()
    with connection, suppress(OSError):
        while part := connection.recv(65536):
            received += part
    return bytes(received)


def _closed(made: list[socket.socket], go_on: Callable[[socket.socket], object]) -> Outcome:
    """Go on with connections until the server has closed all of them; it holds if it does."""
    left = set(made)
    end = time.monotonic() + LONG
    while left and time.monotonic() < end:
        for each in list(left):
            try:
                go_on(each)
            except OSError:
                left.discard(each)
        readable = _readable(left)
        for each in readable:
            try:
                if not each.recv(65536):
                    left.discard(each)
            except OSError:
                left.discard(each)
        time.sleep(0.1)
    for each in made:
        each.close()
    return Outcome(len(made), not left, f"{len(made) - len(left)} were closed")


def _readable(connections: set[socket.socket]) -> list[socket.socket]:
    poller = select.poll()
    by_number = {each.fileno(): each for each in connections}
    for number in by_number:
        poller.register(number, select.POLLIN | select.POLLHUP)
    return [by_number[number] for number, _ in poller.poll(0)]
