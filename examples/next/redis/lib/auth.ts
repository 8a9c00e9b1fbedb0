import { idpAuth } from "idpauth/next";
import { redisStore } from "idpauth/redis";
import { createClient } from "redis";

// It doesn't connect here, because `next build` loads this module, too.
export const client = createClient({
  url: process.env.REDIS_URL ?? "redis://localhost:6379",
  disableOfflineQueue: true,
});
client.on("error", (error) => console.error(error));

export const auth = idpAuth({ store: () => redisStore(client) });
