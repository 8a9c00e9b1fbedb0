import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { redisForTests, startRedis, type RedisServer } from "../support/redis-server.js";
import { CLIENTS, failuresOf, RULES, storeOf } from "./redis-acl-use.js";

// The user that docs/reference/databases.md creates for the store.

const isMissing = (await redisForTests()) === undefined;

describe.skipIf(isMissing)("a Redis user with the ACL of docs/reference/databases.md", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  it.each(Object.entries(CLIENTS))("does everything over %s", async (_name, connect) => {
    expect(RULES.length).toBeGreaterThan(15);
    expect(await failuresOf(await storeOf(server, RULES, connect), [server], 30_000)).toEqual([]);
  });
});
