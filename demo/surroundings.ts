import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import {
  providersEnv,
  RunningClock,
  startTestProvider,
  type MovableClock,
  type PersonClaims,
  type TestProvider,
} from "idpauth/testing";
import { startOrdersApi } from "./orders-api.js";
import { choicePage, policyOfProvider } from "./screen.js";
import { closable, listen } from "./server.js";

/** The lifetime of ID tokens and access tokens. */
const TOKEN_SECONDS = 300;
/** The demo's clock skips a little more than this lifetime. */
export const EXPIRY_MS = (TOKEN_SECONDS + 10) * 1000;

const PEOPLE: Readonly<Record<string, readonly PersonClaims[]>> = {
  staff: [
    { sub: "ada", name: "Ada Lovelace", email: "ada@example.com" },
    { sub: "grace", name: "Grace Hopper", email: "grace@example.com" },
  ],
  customers: [
    { sub: "mary", name: "Mary Somerville", email: "mary@example.net" },
    { sub: "emmy", name: "Emmy Noether", email: "emmy@example.net" },
  ],
};

/** What surrounds the application: providers, an API, a folder for the sessions, and a clock. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string>>;
  readonly providers: readonly TestProvider[];
  readonly clock: MovableClock;
  readonly ordersUrl: string;
  /** The SQLite file that all processes share. */
  readonly sessionFile: string;
  close(): Promise<void>;
}

/** @param origin the application's */
export async function startSurroundings(origin: string): Promise<Surroundings> {
  const clock = new RunningClock();
  const folder = mkdtempSync(path.join(tmpdir(), "idpauth-demo-"));
  const settings = { clock, idTokenSeconds: TOKEN_SECONDS, accessTokenSeconds: TOKEN_SECONDS };
  const [staff, customers] = await Promise.all([
    startTestProvider({ ...settings, people: PEOPLE["staff"] ?? [] }),
    startTestProvider({ ...settings, people: PEOPLE["customers"] ?? [] }),
  ]);
  const pages = await startProviderPages(origin, { staff, customers });
  const orders = await startOrdersApi([staff.issuer, customers.issuer], () => clock.now());
  const env = {
    ...providersEnv({ staff, customers }),
    IDP_PROVIDER_STAFF_NAME: "Example staff",
    IDP_PROVIDER_CUSTOMERS_NAME: "Customer account",
    SECRET_KEY: randomBytes(32).toString("base64url"),
    BASE_URL: origin,
    IDP_AUTH_FINAL_REDIRECT_URL: "/",
    IDP_AUTH_LOGOUT_REDIRECT_URL: "/",
    IDP_LOGOUT_AT_PROVIDER: "true",
    IDP_SESSIONS_PAGE: "true",
    IDP_EVENTS: "true",
    IDP_SESSION_MAX_AGE: "28800",
    IDP_SESSION_IDLE_TIMEOUT: "3600",
  };
  return {
    env,
    providers: [staff, customers],
    clock,
    ordersUrl: orders.url,
    sessionFile: path.join(folder, "sessions.db"),
    async close() {
      orders.close();
      await Promise.allSettled([pages.close(), staff.stop(), customers.stop()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Serves the pages on which a user chooses a person. The test providers have none: they sign in
 * whom `login_hint` names.
 */
async function startProviderPages(
  origin: string,
  providers: Readonly<Record<string, TestProvider>>,
): Promise<{ close(): Promise<void> }> {
  const endpoints = new Map<string, string>();
  const server = createServer((request, response) => {
    const [pathname = "", search] = (request.url ?? "").split("?", 2);
    const key = pathname.slice(1);
    const endpoint = endpoints.get(key);
    if (endpoint === undefined) return void response.writeHead(404).end();
    const choices = (PEOPLE[key] ?? []).map(({ name, email, sub }) => {
      const query = new URLSearchParams(search);
      // The provider then treats it as a fresh sign-in, which a step-up needs.
      query.set("prompt", "login");
      query.set("login_hint", String(sub));
      return { name: String(name), email: String(email), href: `${endpoint}?${query.toString()}` };
    });
    response.setHeader("Content-Type", "text/html; charset=utf-8");
    response.setHeader("Content-Security-Policy", policyOfProvider(origin));
    response.end(choicePage(origin, key, choices));
  });
  const close = closable(server);
  const address = await listen(server, 0);
  for (const [key, provider] of Object.entries(providers)) {
    provider.discoveryDocument = (document) => {
      endpoints.set(key, String(document["authorization_endpoint"]));
      return { ...document, authorization_endpoint: `${address}/${key}` };
    };
  }
  return { close };
}
