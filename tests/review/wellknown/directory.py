"""Employees, customers and orders in one table (Developer Guide: "Example of modeling relational data in DynamoDB").

Employees are found by their country's warehouse, title and hiring date; orders by customer, representative and status.
"""

from datetime import date, datetime
from typing import Literal

from keyplan.design import (
    Aggregate,
    Aggregated,
    Design,
    Entity,
    Get,
    Id,
    Query,
    Table,
    aggregate,
    get,
    key,
    pattern,
    query,
    within,
)

company = Table("Company", key("PK", "SK"), indexes={"GSI1": key("GSI1PK", "GSI1SK"), "GSI2": key("GSI2PK", "GSI2SK")})

Status = Literal["OPEN", "PENDING", "FULFILLED"]


class Employee(Entity, table=company):
    employee_id: Id
    name: str
    title: Id
    hired_on: date
    warehouse_id: Id

    primary = key("EMPLOYEE#{employee_id}", "EMPLOYEE")
    by_name = company.GSI1("NAME#{name.lower}", "{employee_id}")
    by_warehouse = company.GSI2("WAREHOUSE#{warehouse_id}", "{title}#{employee_id}")


class Hired(Entity, table=company):
    """An employee among those who were hired in a year."""

    employee_id: Id
    hired_on: date

    primary = key("HIRED#{hired_on:%Y}", "{hired_on}#{employee_id}")


class Customer(Entity, table=company):
    customer_id: Id
    name: str
    representative_id: Id

    primary = key("CUSTOMER#{customer_id}", "CUSTOMER")
    by_representative = company.GSI1("REPRESENTATIVE#{representative_id}", "{customer_id}")


class Order(Entity, table=company):
    order_id: Id
    customer_id: Id
    status: Status
    placed_at: datetime

    primary = key("ORDER#{order_id}", "ORDER")
    by_customer = company.GSI1("CUSTOMER#{customer_id}", "{placed_at}#{order_id}")
    by_status = company.GSI2("STATUS#{status}", "{placed_at}#{order_id}")


class OrderItem(Entity, table=company):
    order_id: Id
    product_id: Id
    warehouse_id: Id
    quantity: int

    primary = key("ORDER#{order_id}", "PRODUCT#{product_id}")
    by_product = company.GSI1("PRODUCT#{product_id}", "{order_id}")


class OrderWithItems(Aggregate):
    order: Order
    items: list[OrderItem]


class Company(Design):
    tables = (company,)
    entities = (Employee, Hired, Customer, Order, OrderItem)

    @pattern("Employee by id")
    def employee(self, employee_id: str) -> Get[Employee]:
        return get(Employee, employee_id=employee_id)

    @pattern("Employees by name")
    def employees_named(self, name: str) -> Query[Employee]:
        return query(Employee.by_name, name=name)

    @pattern("Employees of a warehouse, by title")
    def employees_of(self, warehouse_id: str) -> Query[Employee]:
        return query(Employee.by_warehouse, warehouse_id=warehouse_id)

    @pattern("Employees who were hired in a period")
    def hired(self, first: date, last: date) -> Query[Hired]:
        return query(Hired.primary, hired_on=within(first, last))

    @pattern("Customers of a representative")
    def customers_of(self, representative_id: str) -> Query[Customer]:
        return query(Customer.by_representative, representative_id=representative_id)

    @pattern("Orders of a customer in a period")
    def orders_of(self, customer_id: str, first: datetime, last: datetime) -> Query[Order]:
        return query(Order.by_customer, customer_id=customer_id, placed_at=within(first, last))

    @pattern("Open orders in a period")
    def open_orders(self, first: datetime, last: datetime) -> Query[Order]:
        return query(Order.by_status, status="OPEN", placed_at=within(first, last))

    @pattern("An order with its items")
    def order(self, order_id: str) -> Aggregated[OrderWithItems]:
        return aggregate(OrderWithItems, order_id=order_id)

    @pattern("Orders with a product")
    def orders_with(self, product_id: str) -> Query[OrderItem]:
        return query(OrderItem.by_product, product_id=product_id)
