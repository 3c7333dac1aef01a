// The JavaScript SDK v3, as a user has it, against a running endpoint. Run by `make test-sdks`.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { after, before, test } from "node:test";

import {
  ConditionalCheckFailedException,
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  GetItemCommand,
  ListTablesCommand,
  PutItemCommand,
  ResourceNotFoundException,
  TransactionCanceledException,
  waitUntilTableExists,
} from "@aws-sdk/client-dynamodb";
import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ListStreamsCommand,
} from "@aws-sdk/client-dynamodb-streams";
import {
  BatchWriteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
  paginateQuery,
} from "@aws-sdk/lib-dynamodb";

const TABLE = "Notes";

let endpoint;
let client;
let documents;
let streams;

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

before(
  async () => {
    const port = await freePort();
    const command = fileURLToPath(new URL("../../.venv/bin/keyplan", import.meta.url));
    endpoint = spawn(command, ["dynamodb", "--memory", "--port", String(port)], { stdio: ["ignore", "pipe", "inherit"] });
    const ready = once(endpoint.stdout, "data");
    const ended = once(endpoint, "exit").then(([code]) => assert.fail(`the endpoint ended with ${code} before it was ready`));
    await Promise.race([ready, ended]);
    ended.catch(() => {}); // from here on its end is expected

    const settings = {
      endpoint: `http://127.0.0.1:${port}`,
      region: "us-east-1",
      credentials: { accessKeyId: "test", secretAccessKey: "test" },
      maxAttempts: 1,
    };
    client = new DynamoDBClient(settings);
    documents = DynamoDBDocumentClient.from(client);
    streams = new DynamoDBStreamsClient(settings);

    await client.send(
      new CreateTableCommand({
        TableName: TABLE,
        AttributeDefinitions: [
          { AttributeName: "pk", AttributeType: "S" },
          { AttributeName: "sk", AttributeType: "N" },
        ],
        KeySchema: [
          { AttributeName: "pk", KeyType: "HASH" },
          { AttributeName: "sk", KeyType: "RANGE" },
        ],
        BillingMode: "PAY_PER_REQUEST",
        StreamSpecification: { StreamEnabled: true, StreamViewType: "NEW_AND_OLD_IMAGES" },
      }),
    );
    await waitUntilTableExists({ client, minDelay: 1, maxWaitTime: 10 }, { TableName: TABLE });
  },
  { timeout: 30_000 },
);

after(async () => {
  client?.destroy();
  streams?.destroy();
  if (!endpoint || endpoint.exitCode !== null) return;
  endpoint.kill("SIGTERM");
  const [code] = await once(endpoint, "exit");
  assert.equal(code, 0, "SIGTERM ends the endpoint cleanly");
});

test("a table is listed and described", async () => {
  const { TableNames } = await client.send(new ListTablesCommand({}));
  assert.deepEqual(TableNames, [TABLE]);
  const { Table } = await client.send(new DescribeTableCommand({ TableName: TABLE }));
  assert.equal(Table.TableStatus, "ACTIVE");
  assert.ok(Table.CreationDateTime instanceof Date);
  await assert.rejects(client.send(new DescribeTableCommand({ TableName: "Missing" })), ResourceNotFoundException);
});

test("every type of value comes back as it was put", async () => {
  const Item = {
    pk: { S: "types" },
    sk: { N: "1" },
    text: { S: "żółć 🗝" },
    number: { N: "12345678901234567890.5" },
    binary: { B: new Uint8Array([0, 1, 255]) },
    strings: { SS: ["a", "b"] },
    numbers: { NS: ["1", "2"] },
    binaries: { BS: [new Uint8Array([1]), new Uint8Array([2])] },
    list: { L: [{ BOOL: true }, { NULL: true }] },
    map: { M: { inner: { S: "" } } },
  };
  await client.send(new PutItemCommand({ TableName: TABLE, Item }));
  const answer = await client.send(
    new GetItemCommand({ TableName: TABLE, Key: { pk: Item.pk, sk: Item.sk }, ReturnConsumedCapacity: "TOTAL" }),
  );
  for (const name of ["strings", "numbers"]) Object.values(answer.Item[name])[0].sort();
  assert.deepEqual(answer.Item, Item);
  assert.deepEqual(answer.ConsumedCapacity, { TableName: TABLE, CapacityUnits: 0.5 });
});

test("plain JavaScript values go through the document client", async () => {
  const Item = { pk: "plain", sk: 1, tags: new Set(["x", "y"]), nested: { list: [1, "two", null, false] } };
  await documents.send(new PutCommand({ TableName: TABLE, Item }));
  const answer = await documents.send(new GetCommand({ TableName: TABLE, Key: { pk: "plain", sk: 1 } }));
  assert.deepEqual(answer.Item, Item);
  const { Attributes } = await documents.send(
    new UpdateCommand({
      TableName: TABLE,
      Key: { pk: "plain", sk: 1 },
      UpdateExpression: "SET nested.#l[0] = nested.#l[0] + :one",
      ExpressionAttributeNames: { "#l": "list" },
      ExpressionAttributeValues: { ":one": 1 },
      ReturnValues: "UPDATED_NEW",
    }),
  );
  assert.deepEqual(Attributes, { nested: { list: [2] } });
});

test("a paginator walks a query to its end", async () => {
  const numbers = Array.from({ length: 25 }, (_, index) => index);
  await documents.send(
    new BatchWriteCommand({
      RequestItems: { [TABLE]: numbers.map((sk) => ({ PutRequest: { Item: { pk: "pages", sk } } })) },
    }),
  );
  const pages = paginateQuery(
    { client: documents, pageSize: 10 },
    { TableName: TABLE, KeyConditionExpression: "pk = :pk", ExpressionAttributeValues: { ":pk": "pages" } },
  );
  const sizes = [];
  const seen = [];
  for await (const page of pages) {
    sizes.push(page.Count);
    seen.push(...page.Items.map((item) => item.sk));
  }
  assert.deepEqual(sizes, [10, 10, 5]);
  assert.deepEqual(seen, numbers);
});

test("a failed condition is its own error class and carries the item", async () => {
  await documents.send(new PutCommand({ TableName: TABLE, Item: { pk: "taken", sk: 1, owner: "first" } }));
  const attempt = documents.send(
    new PutCommand({
      TableName: TABLE,
      Item: { pk: "taken", sk: 1, owner: "second" },
      ConditionExpression: "attribute_not_exists(pk)",
      ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    }),
  );
  await assert.rejects(attempt, (error) => {
    assert.ok(error instanceof ConditionalCheckFailedException);
    assert.equal(error.message, "The conditional request failed");
    assert.equal(error.$metadata.httpStatusCode, 400);
    assert.ok(error.$metadata.requestId);
    assert.deepEqual(error.Item.owner, { S: "first" });
    return true;
  });
});

test("a transaction is all or nothing and tells its reasons in order", async () => {
  const put = (sk, ConditionExpression) => ({
    Put: { TableName: TABLE, Item: { pk: "together", sk }, ConditionExpression },
  });
  await documents.send(new TransactWriteCommand({ TransactItems: [put(1), put(2)] }));
  const attempt = documents.send(
    new TransactWriteCommand({ TransactItems: [put(3), put(1, "attribute_not_exists(pk)")] }),
  );
  await assert.rejects(attempt, (error) => {
    assert.ok(error instanceof TransactionCanceledException);
    assert.deepEqual(
      error.CancellationReasons.map((reason) => reason.Code),
      ["None", "ConditionalCheckFailed"],
    );
    return true;
  });
  const { Count } = await documents.send(
    new QueryCommand({
      TableName: TABLE,
      KeyConditionExpression: "pk = :pk",
      ExpressionAttributeValues: { ":pk": "together" },
    }),
  );
  assert.equal(Count, 2);
});

test("a stream tells what was written, in order", async () => {
  for (const owner of ["first", "second"]) {
    await documents.send(new PutCommand({ TableName: TABLE, Item: { pk: "streamed", sk: 1, owner } }));
  }
  const { Streams } = await streams.send(new ListStreamsCommand({ TableName: TABLE }));
  const { StreamArn } = Streams[0];
  const { StreamDescription } = await streams.send(new DescribeStreamCommand({ StreamArn }));
  const records = [];
  for (const { ShardId } of StreamDescription.Shards) {
    const { ShardIterator } = await streams.send(
      new GetShardIteratorCommand({ StreamArn, ShardId, ShardIteratorType: "TRIM_HORIZON" }),
    );
    const { Records } = await streams.send(new GetRecordsCommand({ ShardIterator }));
    records.push(...Records.filter((record) => record.dynamodb.Keys.pk.S === "streamed"));
  }
  assert.deepEqual(
    records.map(({ eventName, dynamodb }) => [eventName, dynamodb.OldImage?.owner.S, dynamodb.NewImage?.owner.S]),
    [
      ["INSERT", undefined, "first"],
      ["MODIFY", "first", "second"],
    ],
  );
});
