// The test of scenario.py for the slice in JavaScript: `node scenario.mjs http://127.0.0.1:8000`.

import assert from "node:assert/strict";

import { DynamoDBClient } from "@aws-sdk/client-dynamodb";

import { Refused, Shop } from "./electrodb_shop.mjs";

const credentials = { accessKeyId: "any", secretAccessKey: "any" };
const shop = new Shop(new DynamoDBClient({ endpoint: process.argv[2], region: "us-east-1", credentials }));
const refused = (act) => assert.rejects(act, Refused);

await shop.open();
await shop.addCustomer("ann", "Ann@example.org", "Ann");
await shop.addCustomer("joe", "joe@example.org", "Joe");
await refused(shop.addCustomer("eve", "ANN@example.org", "Eve"));
assert.equal(await shop.customerByEmail("ann@EXAMPLE.org"), "ann");
assert.equal(await shop.customerByEmail("eve@example.org"), null);
await refused(shop.changeEmail("joe", "ann@example.org"));
await shop.changeEmail("joe", "joe@example.com");
assert.equal(await shop.customerByEmail("joe@example.org"), null);
assert.equal(await shop.customerByEmail("joe@example.com"), "joe");

await shop.addProduct("ink", "Ink", 500);
await shop.addProduct("pen", "Pen", 1250);
await shop.deliver("ink", "d1", 5);
await shop.deliver("pen", "d1", 2);
await refused(shop.deliver("pen", "d1", 2));
assert.deepEqual([await shop.stock("ink"), await shop.stock("pen")], [5, 2]);

assert.equal(await shop.placeOrder("ann", { ink: 2, pen: 1 }), 1);
await refused(shop.placeOrder("ann", { ink: 1, pen: 2 }));
await refused(shop.placeOrder("nobody", { ink: 1 }));
await refused(shop.placeOrder("ann", { ink: 1, paper: 1 }));
assert.deepEqual([await shop.stock("ink"), await shop.stock("pen")], [3, 1]);
assert.equal(await shop.placeOrder("ann", { ink: 1 }), 2);
assert.equal(await shop.placeOrder("joe", { pen: 1 }), 3);
assert.deepEqual(await shop.order(1), ["placed", { ink: 2, pen: 1 }]);

const [numbers, cursor] = await shop.ordersOf("ann", 1, null);
assert.deepEqual(numbers, [2]);
assert.ok(cursor);
assert.deepEqual((await shop.ordersOf("ann", 1, cursor))[0], [1]);

await shop.pay(1);
await shop.pay(3);
await refused(shop.pay(1));
assert.deepEqual(await shop.toShip(), [1, 3]);
await shop.cancel(1);
await refused(shop.cancel(1));
assert.deepEqual(await shop.toShip(), [3]);
assert.equal((await shop.order(1))[0], "canceled");
assert.deepEqual([await shop.stock("ink"), await shop.stock("pen")], [4, 1]);

await refused(shop.deleteCustomer("ann"));
await shop.addCustomer("sue", "sue@example.org", "Sue");
await shop.deleteCustomer("sue");
assert.equal(await shop.customerByEmail("sue@example.org"), null);
await shop.addCustomer("sue2", "SUE@example.org", "Sue");
