import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { ExpressIdpAuth } from "../../src/adapters/express/express.js";
import { CookieBrowser, startTestProvider, type TestProvider } from "../../src/testing/index.js";

// docs/snippets/same-settings: services with the company's preset, as each runs in a process of its
// own with its own environment, on one store.

interface Service {
  readonly app: RequestListener;
  readonly auth: ExpressIdpAuth;
}

const SNIPPETS = new URL("../../docs/snippets/same-settings/", import.meta.url);
const COOKIE = "idpauth";
const KEYS = {
  orders: "the key of the orders service, for this test",
  billing: "the key of the billing service, for this test",
};

let provider: TestProvider;
let runs = 0;
const servers: Server[] = [];

beforeEach(async () => {
  provider = await startTestProvider();
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});

afterEach(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  for (const server of servers.splice(0)) server.close();
  await provider.stop();
});

/** Starts a process of a service: loads its module once more, with its environment. */
async function start(name: keyof typeof KEYS, env: Readonly<Record<string, string>> = {}) {
  const own = {
    ...provider.env,
    IDP_CLIENT_ID: name,
    SECRET_KEY: KEYS[name],
    SERVICE_NAME: name,
    ...env,
  };
  for (const [variable, value] of Object.entries(own)) vi.stubEnv(variable, value);
  const service = (await import(`${SNIPPETS.href}orders.ts?run=${String(++runs)}`)) as Service;
  const server = createServer(service.app).listen(0, "127.0.0.1");
  servers.push(server);
  await new Promise((resolve) => server.once("listening", resolve));
  const origin = `http://localhost:${String((server.address() as AddressInfo).port)}`;
  return { ...service, origin };
}

/** Signs a user in at a service. @returns the session's cookie */
async function signIn(name: keyof typeof KEYS, origin: string): Promise<string> {
  provider.settings.clientId = name;
  const browser = new CookieBrowser({ origin });
  expect((await browser.follow("/idpauth/login/")).status).toBe(200);
  const cookie = browser.cookies.all().find((one) => one.name.startsWith(COOKIE));
  return `${String(cookie?.name)}=${String(cookie?.value)}`;
}

async function probe(origin: string, cookie: string): Promise<Record<string, unknown>> {
  const response = await fetch(`${origin}/idpauth/session?details=true`, { headers: { cookie } });
  return (await response.json()) as Record<string, unknown>;
}

it("the processes of one service share its sessions, and another service on the same store doesn't", async () => {
  const [first, second] = [await start("orders"), await start("orders")];
  const billing = await start("billing");
  const cookie = await signIn("orders", first.origin);
  expect((await probe(second.origin, cookie))["authenticated"]).toBe(true);
  expect(await probe(billing.origin, cookie)).toMatchObject({
    authenticated: false,
    reason: "no_credentials",
  });

  const own = await signIn("billing", billing.origin);
  const user = { iss: provider.issuer, sub: "ada-1815" };
  const counts = await Promise.all(
    [first, second, billing].map(async ({ auth }) => (await auth.listSessions(user)).length),
  );
  expect(counts).toEqual([1, 1, 1]);
  expect(await billing.auth.endAllSessions(user)).toBe(1);
  expect((await probe(billing.origin, own))["authenticated"]).toBe(false);
  expect((await probe(first.origin, cookie))["authenticated"]).toBe(true);
});

it("the preset's defaults apply, the environment overrides them, and an option overrides both", async () => {
  const limits = async (env: Readonly<Record<string, string>>) => {
    const { origin } = await start("orders", env);
    const details = await probe(origin, await signIn("orders", origin));
    return [details["max_age_expires_in"], details["idle_expires_in"]].map((seconds) =>
      Math.ceil(Number(seconds) / 60),
    );
  };
  expect(await limits({})).toEqual([480, 15]);
  expect(await limits({ IDP_SESSION_MAX_AGE: "3600", IDP_SESSION_IDLE_TIMEOUT: "60" })).toEqual([
    60, 15,
  ]);
});

it.each(["", "none", "86400"])("a service can't set IDP_SESSION_MAX_AGE to '%s'", async (value) => {
  await expect(start("orders", { IDP_SESSION_MAX_AGE: value })).rejects.toThrow(
    "Set a maximum age of a session up to 43200 seconds.",
  );
});

it("each log line names the service", async () => {
  const { origin } = await start("billing");
  await fetch(`${origin}/idpauth/login-callback?state=x&code=y`);
  const lines = vi
    .mocked(console.error)
    .mock.calls.map(([line]) => JSON.parse(String(line)) as object);
  expect(lines).toContainEqual(
    expect.objectContaining({ service: "billing", code: "callback_failed" }),
  );
});
