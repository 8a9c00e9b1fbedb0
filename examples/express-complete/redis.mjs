// @ts-check
import { createClient } from "redis";

/**
 * Connects to the Redis at REDIS_URL. During an outage, a command fails at once instead of waiting
 * for the end of it.
 * @param {import("./telemetry.mjs").Telemetry} telemetry
 */
export async function connectRedis(telemetry) {
  const url = process.env["REDIS_URL"] ?? "redis://localhost:6379";
  const client = createClient({ url, disableOfflineQueue: true });
  client.on("error", (error) => telemetry.log({ level: "error", message: String(error) }));
  await client.connect();
  return client;
}
