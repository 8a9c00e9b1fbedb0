import { readFileSync } from "node:fs";
import express from "express";
import type { Clock, SessionStore } from "idpauth";
import { idpAuth } from "idpauth/express";
import { POLICY, screen, secondTab } from "./screen.js";
import { STYLE } from "./style.js";

export interface ApplicationParts {
  /** The settings of idpauth, as in the environment of a real application. */
  readonly env: Readonly<Record<string, string>>;
  readonly store: SessionStore;
  /** The demo's clock can skip five minutes, which a real application has no use for. */
  readonly clock: Clock;
  /** The address of the orders API, with a slash at its end. */
  readonly ordersUrl: string;
  /** Shown on the page; undefined if there is only one process. */
  readonly processName: string | undefined;
}

/** How recently a user who transfers money must have signed in, in seconds. */
const TRANSFER_MAX_AGE_SECONDS = 60;

/**
 * The application of the demo. Everything that it knows about sessions and tokens is in this file.
 *
 * @throws ConfigurationError a startup check fails
 */
export function createApplication({ env, store, clock, ordersUrl, processName }: ApplicationParts) {
  const app = express().disable("x-powered-by");
  const auth = idpAuth({
    env,
    store,
    clock,
    apis: { orders: { url: ordersUrl, path: "/api/orders/" } },
    clientData: ({ provider, claims }) => ({ provider, age: ageOf(claims) }),
    pages: { name: "idpauth demo", homeHref: "/" },
  });
  auth.mount(app); // /idpauth/login/, /idpauth/logout/, /idpauth/session, …
  app.use(auth.proxyApi("orders")); // before every body parser
  app.use(auth.csrf);

  app.get("/api/me", auth.idpRequired, async (request, response) => {
    const { user } = await auth.requireSession(request);
    response.json({ name: user.name, email: user.email });
  });

  const recently = auth.idpRequiredWith({ maxAge: TRANSFER_MAX_AGE_SECONDS });
  app.post("/api/transfer", recently, async (request, response) => {
    const { claims } = await auth.requireSession(request);
    response.json({ age: ageOf(claims), maxAge: TRANSFER_MAX_AGE_SECONDS });
  });

  const client = readFileSync(new URL(import.meta.resolve("idpauth/client/browser")));
  app.get("/idpauth-client.js", (_request, response) => {
    response.type("js").send(client);
  });
  app.get("/demo.css", (_request, response) => {
    response.type("css").send(STYLE);
  });
  const root = `${import.meta.dirname}/public`;
  app.use("/public", express.static(root));
  app.get("/favicon.ico", (_request, response) => response.sendFile("favicon.svg", { root }));

  app.use((_request, response, next) => {
    response.set({ "Content-Security-Policy": POLICY, "Cache-Control": "no-store" });
    next();
  });
  app.get("/", (_request, response) => {
    response.send(screen(processName !== undefined));
  });
  app.get("/second-tab", (_request, response) => {
    response.send(secondTab());
  });
  app.use(auth.errorHandler);
  return { app, auth };

  /** Seconds since the user signed in at the provider. */
  function ageOf(claims: Readonly<Record<string, unknown>>): number {
    return Math.max(0, Math.floor(clock.now() / 1000 - Number(claims["auth_time"])));
  }
}
