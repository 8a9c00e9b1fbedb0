// @ts-check
import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import { providersEnv, startTestApi, startTestProvider } from "idpauth/testing";
import { createApp } from "../app.mjs";
import { Notices } from "../notices.mjs";
import { connectRedis } from "../redis.mjs";
import { createTelemetry } from "../telemetry.mjs";

/**
 * The application with two providers, the orders API, and the Redis at REDIS_URL. The company's
 * provider knows the application by its key.
 */
export async function startApplication() {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const company = await startTestProvider({ clientJwks: [publicKey.export({ format: "jwk" })] });
  const agency = await startTestProvider({ clock: company.clock });
  const orders = await startTestApi(company);
  /** @type {Record<string, unknown>[]} */
  const lines = [];
  const telemetry = createTelemetry((line) => void lines.push(JSON.parse(line)));
  const [redis, subscriber] = [await connectRedis(telemetry), await connectRedis(telemetry)];
  const notices = new Notices(redis);
  await notices.receive(subscriber);

  const { app, auth } = createApp(
    { redis, notices, telemetry, ordersUrl: orders.url },
    {
      env: {
        ...providersEnv({ company, agency }),
        IDP_SESSION_IDLE_TIMEOUT: "1800",
        IDP_SESSIONS_PAGE: "on",
        IDP_PROVIDER_COMPANY_PRIVATE_KEY: String(
          privateKey.export({ type: "pkcs8", format: "pem" }),
        ),
      },
      clock: company.clock,
    },
  );
  const server = createServer(app);
  server.on("upgrade", (...upgrade) => auth.proxyUpgrade(...upgrade) || upgrade[1].destroy());

  return {
    ...{ server, company, agency, orders, redis, telemetry, lines },
    async stop() {
      await auth.close();
      server.close();
      await Promise.all([redis.close(), subscriber.close(), orders.stop()]);
      await Promise.all([company.stop(), agency.stop()]);
    },
  };
}

export const COMPANY = /** @type {const} */ ({ provider: "company" });
export const ADA = { email: "ada@example.com", name: "Ada", groups: ["staff", "admin"] };
export const GRACE = { email: "grace@example.com", name: "Grace", groups: ["staff"] };
export const ALAN = { email: "alan@example.com", name: "Alan", groups: ["visitors"] };
