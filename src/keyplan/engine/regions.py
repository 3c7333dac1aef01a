"""Which tables a caller sees: those of everybody, or those of its account in its region.

By default all callers share one namespace, whatever region and credentials they have. Where regions are separate, the
region is that of the request's signature, and the account is that of the access key: by a map of access keys, or the
access key itself if it is an account's number.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Literal, NamedTuple, TypeAlias, TypeVar

from keyplan.engine.executor import Answer, Caller, Request
from keyplan.engine.operations import Operation, Searching
from keyplan.engine.storage.scopes import ACCOUNT, HOME, Scope
from keyplan.engine.storage.transaction import Paused, Transaction
from keyplan.engine.vectors.memory import VectorMemory
from keyplan.engine.vectors.source import Reads

T = TypeVar("T")
RegionMode: TypeAlias = Literal["one", "separate"]

ACCOUNT_NUMBER = re.compile(r"\d{12}")
_REGION = re.compile(r"[a-z0-9-]{1,40}")


class _View(NamedTuple):
    """What a caller sees."""

    scope: Scope
    separate: bool
    address: str


class Regions:
    """Runs operations with the tables of their callers."""

    def __init__(self, mode: RegionMode = "one", accounts: Mapping[str, str] | None = None) -> None:
        if mode not in ("one", "separate"):
            raise ValueError(f'regions must be "one" or "separate", not {mode!r}')
        self.separate = mode == "separate"
        self._accounts = dict(accounts or {})
        if self._accounts and not self.separate:
            raise ValueError('accounts are used only with regions="separate"')
        for key, account in self._accounts.items():
            if not ACCOUNT_NUMBER.fullmatch(account):
                raise ValueError(f"The account of access key {key!r} must be a number with 12 digits, not {account!r}")
        self.operation_for = lru_cache(maxsize=1024)(self._operation_for)

    def _operation_for(self, operation: Operation, caller: Caller) -> Operation:
        """Return an operation that runs with the tables of a caller."""
        view = _View(self._scope(caller), self.separate, caller.address)
        search = None if operation.search is None else partial(_search, operation.search, view)
        return operation._replace(run=partial(_run, operation.run, view), search=search)

    def _scope(self, caller: Caller) -> Scope:
        if not self.separate:
            return HOME
        account = self._accounts.get(caller.access_key)
        if account is None:
            account = caller.access_key if ACCOUNT_NUMBER.fullmatch(caller.access_key) else ACCOUNT
        return Scope(account, caller.region if _REGION.fullmatch(caller.region) else HOME.region)


def _run(
    run: Callable[[Transaction, Request], Answer], view: _View, transaction: Transaction, request: Request
) -> Answer:
    """Run an operation; requests of other callers may share the transaction."""
    before = _View(transaction.catalog.scope, transaction.catalog.separate, transaction.address)
    _enter(transaction, view)
    try:
        return run(transaction, request)
    except Paused as paused:
        raise Paused(partial(_resume, paused.resume, view)) from None
    finally:
        _enter(transaction, before)


def _search(search: Searching, view: _View, reads: Reads, memory: VectorMemory, request: Request) -> Answer:
    """Run an operation that reads several times."""

    def reads_seen(work: Callable[[Transaction], T], /) -> T:
        def entered(transaction: Transaction) -> T:
            _enter(transaction, view)
            return work(transaction)

        return reads(entered)

    return search(reads_seen, memory, request)


def _resume(resume: Callable[[Transaction], Answer], view: _View, transaction: Transaction) -> Answer:
    """Read on in another transaction."""
    return _run(lambda later, _: resume(later), view, transaction, {})


def _enter(transaction: Transaction, view: _View) -> None:
    transaction.catalog = transaction.catalog.seen(view.scope, separate=view.separate)
    transaction.address = view.address
