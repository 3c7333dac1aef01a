# pyright: strict
"""# Sequence numbers

Ticket 1, 2, 3 of a company, and its invoices 1, 2, 3. The number comes from a counter in the parent's item, in one
request. Where no number may be missing, counter and new item are written in one transaction.

Use it where people read the numbers, or where the law wants no gaps.

**Not for** ids that nobody reads: `new_id()` makes ids that sort by time, without a counter that everybody has to pass.
A counter takes about 1000 writes a second at most.
"""

from keyplan.data import ConditionFailed, Store, at, create, patch
from keyplan.design import Design, Entity, Get, Id, Query, Table, get, key, pattern, query, ref

ledger = Table("Ledger", key("PK", "SK"))


class Company(Entity, table=ledger):
    company_id: Id
    last_ticket: int = 0
    last_invoice: int = 0

    primary = key("COMPANY#{company_id}", "COMPANY")


class Ticket(Entity, table=ledger):
    company_id: Id
    number: int
    text: str

    primary = key("COMPANY#{company_id}", "TICKET#{number:08}")


class Invoice(Entity, table=ledger):
    company_id: Id
    number: int
    cents: int

    primary = key("COMPANY#{company_id}", "INVOICE#{number:08}")


class Ledger(Design):
    tables = (ledger,)
    entities = (Company, Ticket, Invoice)

    @pattern("Get company")
    def company(self, company_id: str) -> Get[Company]:
        return get(Company, company_id=company_id, consistent=True)

    @pattern("List tickets of a company, newest first")
    def tickets(self, company_id: str) -> Query[Ticket]:
        return query(Ticket.primary, company_id=company_id, newest_first=True)

    @pattern("List invoices of a company in order")
    def invoices(self, company_id: str) -> Query[Invoice]:
        return query(Invoice.primary, company_id=company_id)


def open_ticket(store: Store[Ledger], company_id: str, text: str) -> Ticket:
    """The new ticket. Its number is taken first, so it is lost if the ticket isn't written."""
    company = ref(Company, company_id=company_id)
    taken = store.run(patch(company, lambda company: at(company.last_ticket).add(1), returning="updated"))
    number = taken.get(lambda company: company.last_ticket)
    return store.run(create(Ticket(company_id=company_id, number=number, text=text)))


def write_invoice(store: Store[Ledger], company_id: str, cents: int) -> Invoice:
    """The new invoice, with the next number. Tries again if somebody else took the number in between."""
    company = store.run(store.design.company(company_id))
    if company is None:
        raise LookupError(f"there is no company {company_id}")
    last = company.last_invoice
    take = patch(
        ref(Company, company_id=company_id), where=lambda company: company.last_invoice == last, last_invoice=last + 1
    )
    try:
        _, invoice = store.transact(take, create(Invoice(company_id=company_id, number=last + 1, cents=cents)))
    except ConditionFailed:
        return write_invoice(store, company_id, cents)
    return invoice


def use(store: Store[Ledger]) -> None:
    """Take the first way unless a gap does harm: it is faster, and writers never meet."""
    store.run(create(Company(company_id="acme")))
    assert [open_ticket(store, "acme", text).number for text in ("Too loud", "Too slow")] == [1, 2]
    assert [ticket.text for ticket in store.run(store.design.tickets("acme")).items] == ["Too slow", "Too loud"]

    assert [write_invoice(store, "acme", cents).number for cents in (500, 700)] == [1, 2]
    assert [invoice.cents for invoice in store.run(store.design.invoices("acme")).items] == [500, 700]
