// The slice of the shop with ElectroDB 3.

import { CreateTableCommand } from "@aws-sdk/client-dynamodb";
import { Entity, Service } from "electrodb";

const TABLE = "Shop";

const model = (entity) => ({ entity, version: "1", service: "shop" });
const number = { type: "number", required: true, padding: { length: 8, char: "0" } };

const Customer = new Entity({
  model: model("customer"),
  attributes: {
    customerId: { type: "string", required: true },
    email: { type: "string", required: true },
    name: { type: "string", required: true },
    orders: { type: "number", default: 0 },
  },
  indexes: {
    primary: { pk: { field: "PK", composite: ["customerId"] }, sk: { field: "SK", composite: [] } },
  },
});

const EmailGuard = new Entity({
  model: model("emailGuard"),
  attributes: {
    email: { type: "string", required: true, set: (value) => value.toLowerCase() },
    customerId: { type: "string", required: true },
  },
  indexes: {
    primary: { pk: { field: "PK", composite: ["email"] }, sk: { field: "SK", composite: [] } },
  },
});

const Product = new Entity({
  model: model("product"),
  attributes: {
    sku: { type: "string", required: true },
    title: { type: "string", required: true },
    cents: { type: "number", required: true },
    stock: { type: "number", default: 0 },
  },
  indexes: {
    primary: { pk: { field: "PK", composite: ["sku"] }, sk: { field: "SK", composite: [] } },
  },
});

const Delivery = new Entity({
  model: model("delivery"),
  attributes: {
    sku: { type: "string", required: true },
    deliveryId: { type: "string", required: true },
    quantity: { type: "number", required: true },
  },
  indexes: {
    primary: { pk: { field: "PK", composite: ["sku"] }, sk: { field: "SK", composite: ["deliveryId"] } },
  },
});

const Numbers = new Entity({
  model: model("numbers"),
  attributes: {
    series: { type: "string", required: true },
    last: { type: "number", default: 0 },
  },
  indexes: {
    primary: { pk: { field: "PK", composite: ["series"] }, sk: { field: "SK", composite: [] } },
  },
});

const Order = new Entity({
  model: model("order"),
  attributes: {
    number,
    customerId: { type: "string", required: true },
    status: { type: ["placed", "paid", "canceled"], default: "placed" },
    queue: { type: ["toShip"] },
    cents: { type: "number", required: true },
    placedAt: { type: "string", required: true },
    version: { type: "number", default: 1 },
  },
  indexes: {
    primary: {
      collection: "whole",
      pk: { field: "PK", composite: ["number"] },
      sk: { field: "SK", composite: [] },
    },
    byCustomer: {
      index: "GSI1",
      pk: { field: "GSI1PK", composite: ["customerId"] },
      sk: { field: "GSI1SK", composite: ["placedAt", "number"] },
    },
    shipping: {
      index: "GSI2",
      pk: { field: "GSI2PK", composite: ["queue"] },
      sk: { field: "GSI2SK", composite: ["placedAt", "number"] },
    },
  },
});

const Line = new Entity({
  model: model("line"),
  attributes: {
    number,
    sku: { type: "string", required: true },
    cents: { type: "number", required: true },
    quantity: { type: "number", required: true },
  },
  indexes: {
    primary: {
      collection: "whole",
      pk: { field: "PK", composite: ["number"] },
      sk: { field: "SK", composite: ["sku"] },
    },
  },
});

export class Refused extends Error {}

export class Shop {
  constructor(client) {
    this.client = client;
    const entities = { Customer, EmailGuard, Product, Delivery, Numbers, Order, Line };
    this.service = new Service(entities, { client, table: TABLE });
    this.entities = this.service.entities;
  }

  async open() {
    const attributes = ["PK", "SK", "GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK"];
    const key = (prefix) => [
      { AttributeName: `${prefix}PK`, KeyType: "HASH" },
      { AttributeName: `${prefix}SK`, KeyType: "RANGE" },
    ];
    await this.client.send(
      new CreateTableCommand({
        TableName: TABLE,
        BillingMode: "PAY_PER_REQUEST",
        AttributeDefinitions: attributes.map((name) => ({ AttributeName: name, AttributeType: "S" })),
        KeySchema: key(""),
        GlobalSecondaryIndexes: ["GSI1", "GSI2"].map((name) => ({
          IndexName: name,
          KeySchema: key(name),
          Projection: { ProjectionType: "ALL" },
        })),
      }),
    );
    await this.entities.Numbers.create({ series: "orders" }).go();
  }

  async write(parts) {
    const answer = await this.service.transaction.write(parts).go();
    if (answer.canceled) throw Object.assign(new Refused("a rule refused the write"), { reasons: answer.data });
  }

  async get(entity, key) {
    return (await entity.get(key).go({ consistent: true })).data;
  }

  async addCustomer(customerId, email, name) {
    await this.write(({ Customer, EmailGuard }) => [
      Customer.create({ customerId, email, name }).commit(),
      EmailGuard.create({ email, customerId }).commit(),
    ]);
  }

  async customerByEmail(email) {
    const guard = await this.get(this.entities.EmailGuard, { email });
    const customer = guard && (await this.get(this.entities.Customer, { customerId: guard.customerId }));
    return customer ? customer.customerId : null;
  }

  async changeEmail(customerId, email) {
    const customer = await this.get(this.entities.Customer, { customerId });
    if (!customer) throw new Refused("no such customer");
    await this.write(({ Customer, EmailGuard }) => {
      const unchanged = (attributes, { eq }) => eq(attributes.email, customer.email);
      const change = Customer.patch({ customerId }).set({ email }).where(unchanged).commit();
      if (email.toLowerCase() === customer.email.toLowerCase()) return [change];
      return [
        change,
        EmailGuard.delete({ email: customer.email }).commit(),
        EmailGuard.create({ email, customerId }).commit(),
      ];
    });
  }

  async deleteCustomer(customerId) {
    const customer = await this.get(this.entities.Customer, { customerId });
    if (!customer) return;
    await this.write(({ Customer, EmailGuard }) => [
      Customer.delete({ customerId })
        .where((attributes, { eq }) => eq(attributes.orders, 0))
        .where((attributes, { eq }) => eq(attributes.email, customer.email))
        .commit(),
      EmailGuard.delete({ email: customer.email }).commit(),
    ]);
  }

  async addProduct(sku, title, cents) {
    await this.entities.Product.create({ sku, title, cents }).go();
  }

  async deliver(sku, deliveryId, quantity) {
    await this.write(({ Delivery, Product }) => [
      Delivery.create({ sku, deliveryId, quantity }).commit(),
      Product.patch({ sku }).add({ stock: quantity }).commit(),
    ]);
  }

  async stock(sku) {
    const product = await this.get(this.entities.Product, { sku });
    return product ? product.stock : 0;
  }

  async placeOrder(customerId, cart) {
    const skus = Object.keys(cart).map((sku) => ({ sku }));
    const { data: products } = await this.entities.Product.get(skus).go();
    if (products.length < skus.length) throw new Refused("no such product");
    const { last } = await this.get(this.entities.Numbers, { series: "orders" });
    const number = last + 1;
    const cents = products.reduce((sum, product) => sum + product.cents * cart[product.sku], 0);
    const placedAt = new Date().toISOString();
    try {
      await this.write(({ Numbers, Order, Customer, Line, Product }) => [
        Numbers.patch({ series: "orders" })
          .set({ last: number })
          .where((attributes, { eq }) => eq(attributes.last, last))
          .commit(),
        Order.create({ number, customerId, cents, placedAt }).commit(),
        Customer.patch({ customerId }).add({ orders: 1 }).commit(),
        ...products.flatMap(({ sku, cents }) => [
          Line.create({ number, sku, cents, quantity: cart[sku] }).commit(),
          Product.patch({ sku })
            .subtract({ stock: cart[sku] })
            .where((attributes, { gte }) => gte(attributes.stock, cart[sku]))
            .commit(),
        ]),
      ]);
    } catch (error) {
      // Somebody else took the number.
      if (error.reasons?.[0]?.rejected) return this.placeOrder(customerId, cart);
      throw error;
    }
    return number;
  }

  async parts(number) {
    const { data } = await this.service.collections.whole({ number }).go({ consistent: true });
    return { order: data.Order[0], lines: data.Line };
  }

  async order(number) {
    const { order, lines } = await this.parts(number);
    return [order.status, Object.fromEntries(lines.map((line) => [line.sku, line.quantity]))];
  }

  async ordersOf(customerId, limit, cursor) {
    const query = this.entities.Order.query.byCustomer({ customerId });
    const page = await query.go({ order: "desc", limit, cursor });
    return [page.data.map((order) => order.number), page.cursor];
  }

  async pay(number) {
    const { order } = await this.parts(number);
    await this.write(({ Order }) => [
      Order.patch({ number })
        .set({ status: "paid", queue: "toShip", version: order.version + 1 })
        .composite({ placedAt: order.placedAt, customerId: order.customerId })
        .where((attributes, { eq }) => eq(attributes.status, "placed"))
        .where((attributes, { eq }) => eq(attributes.version, order.version))
        .commit(),
    ]);
  }

  async toShip() {
    const { data } = await this.entities.Order.query.shipping({ queue: "toShip" }).go();
    return data.map((order) => order.number);
  }

  async cancel(number) {
    const { order, lines } = await this.parts(number);
    await this.write(({ Order, Line, Product }) => [
      Order.patch({ number })
        .set({ status: "canceled", version: order.version + 1 })
        .remove(["queue"])
        .composite({ placedAt: order.placedAt, customerId: order.customerId })
        .where((attributes, { ne }) => ne(attributes.status, "canceled"))
        .where((attributes, { eq }) => eq(attributes.version, order.version))
        .commit(),
      ...lines.flatMap(({ sku, quantity }) => [
        Line.remove({ number, sku }).commit(),
        Product.patch({ sku }).add({ stock: quantity }).commit(),
      ]),
    ]);
  }
}
