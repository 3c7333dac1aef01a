"""The log of devices, with those that need attention in a sparse index (Developer Guide: "Monitoring device status
updates in DynamoDB")."""

from datetime import datetime
from typing import Literal

from keyplan.design import Design, Entity, Id, Query, Table, Ttl, at_least, key, pattern, query

log = Table(
    "DeviceLog", key("PK", "SK"), indexes={"GSI1": key("GSI1PK", "GSI1SK"), "GSI2": key("GSI2PK", "SK")}, ttl="expires"
)


class Reading(Entity, table=log):
    device_id: Id
    at: datetime
    state: Literal["NORMAL", "WARNING1", "WARNING4"]
    operator: Id
    escalated_to: Id | None = None
    expires: Ttl

    primary = key("DEVICE#{device_id}", "{state}#{at}")
    by_operator = log.GSI1("OPERATOR#{operator}", "{at}#{device_id}#{state}")
    escalated = log.GSI2("ESCALATED#{escalated_to}", "{state}#{at}")


class DeviceLog(Design):
    tables = (log,)
    entities = (Reading,)

    @pattern("Log of a device in a state, the latest first")
    def of_device(self, device_id: str, state: str) -> Query[Reading]:
        return query(Reading.primary, device_id=device_id, state=state, newest_first=True)

    @pattern("Log of an operator since a time")
    def of_operator(self, operator: str, since: datetime) -> Query[Reading]:
        return query(Reading.by_operator, operator=operator, at=at_least(since))

    @pattern("What was escalated to a supervisor")
    def escalated(self, escalated_to: str) -> Query[Reading]:
        return query(Reading.escalated, escalated_to=escalated_to)
