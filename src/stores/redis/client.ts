import type { RedisConnection } from "./connection.js";
import { ioRedisConnection, isIoRedis, type IoRedisClient } from "./ioredis.js";
import { isNodeRedis, nodeRedisConnection, type NodeRedisClient } from "./node-redis.js";

/** A client of the package `redis` (node-redis) or `ioredis`: for one server, for Sentinel, or for a Cluster. */
export type RedisClient = NodeRedisClient | IoRedisClient;

/**
 * Tells the clients apart by their shape: the packages are the application's, in whatever version and number of copies.
 *
 * @throws TypeError for what is no object
 */
export function connectionOf(client: RedisClient): RedisConnection {
  // The application may be written in JavaScript.
  const given: unknown = client;
  if (typeof given !== "object" || given === null) {
    throw new TypeError("redisStore: the client must be one of the package redis or ioredis.");
  }
  if (isNodeRedis(given)) return nodeRedisConnection(given);
  if (isIoRedis(given)) return ioRedisConnection(given);
  return UNKNOWN;
}

const UNKNOWN: RedisConnection = {
  send: () => Promise.reject(new Error("redisStore does not know this kind of client")),
  isOpen: () => undefined,
  lines: () => [],
  problems: () => [
    {
      message: "redisStore was given a client of a kind that it does not know.",
      remedy:
        "Hand in what createClient, createCluster or createSentinel of the package redis (5 or later) gives, or a Redis or Cluster of ioredis (5 or later).",
    },
  ],
};
