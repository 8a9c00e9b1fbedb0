// @ts-check
import { readFileSync } from "node:fs";
import express from "express";
import { hasClaim } from "idpauth";
import { idpAuth } from "idpauth/express";
import { redisStore } from "idpauth/redis";
import { observeRequests } from "./observe-requests.mjs";
import { page, POLICY } from "./page.mjs";
import { saveUser } from "./users.mjs";
import { deskRoutes } from "./desk-routes.mjs";

/**
 * @param {object} parts
 * @param {import("redis").RedisClientType} parts.redis
 * @param {import("./notices.mjs").Notices} parts.notices
 * @param {import("./telemetry.mjs").Telemetry} parts.telemetry
 * @param {string} parts.ordersUrl the address of the orders API, with a slash at the end
 * @param {Pick<import("idpauth").IdpAuthOptions, "env" | "clock">} [options] those of a test
 */
export function createApp({ redis, notices, telemetry, ordersUrl }, options) {
  const app = express();
  const auth = idpAuth({
    ...options, // everything else comes from the environment
    store: redisStore(redis),
    apis: { orders: { url: ordersUrl, path: "/api/orders/", provider: "company" } },
    log: telemetry.log,
    onSignIn: ({ claims, user }) => saveUser(redis, claims, user),
  });
  auth.on("login", () => telemetry.signIns.inc());

  app.get("/healthz", (_req, res) => void res.sendStatus(200)); // says nothing about the store
  app.use(observeRequests(telemetry, (req) => auth.seenSession(req)?.user.id));
  auth.mount(app);
  app.use(auth.proxyApi("orders", { allow: hasClaim("groups", "staff") })); // before the body parser
  app.use(auth.csrf);
  app.use(express.urlencoded({ extended: false }));
  app.use((_req, res, next) => {
    res.set("Content-Security-Policy", POLICY);
    next();
  });

  const client = readFileSync(new URL(import.meta.resolve("idpauth/client/browser")));
  app.get("/idpauth-client.js", (_req, res) => void res.type("js").send(client));
  app.use("/public", express.static(`${import.meta.dirname}/public`));
  app.get("/", (_req, res) => {
    res.send(page("Orders desk", '<p><a href="/desk">Open the desk</a></p>'));
  });

  app.use(deskRoutes(auth, { redis, notices }));
  app.use(auth.errorHandler);
  return { app, auth };
}
