import { once } from "node:events";
import { createServer, get, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { pool } from "../../docs/snippets/user-table/pool.mjs";
import { customers, encrypt } from "../../docs/snippets/tenants/database.js";
import type * as expressEntry from "../../src/adapters/express/express.js";
import type * as sourceModule from "../../src/config/provider-source.js";
import type { IdpAuthOptions } from "../../src/index.js";
import {
  browser,
  startTestProviders,
  type TestBrowser,
  type TestProviders,
} from "../../src/testing/index.js";

// The files of docs/snippets/tenants, which the page about customers' providers shows. Each gets the
// settings and the clock of the test, and its source may use the test's providers.

const given = vi.hoisted((): { options: IdpAuthOptions } => ({ options: {} }));

vi.mock("../../src/adapters/express/express.js", async (original) => {
  const entry = await original<typeof expressEntry>();
  const idpAuth = (options: IdpAuthOptions) => entry.idpAuth({ ...options, ...given.options });
  return { ...entry, idpAuth };
});
vi.mock("../../src/config/provider-source.js", async (original) => {
  const source = await original<typeof sourceModule>();
  const providerSource = (options: sourceModule.ProviderSourceOptions) =>
    source.providerSource({ ...options, internalHosts: ["127.0.0.1"] });
  return { ...source, providerSource };
});

const SNIPPETS = path.resolve(import.meta.dirname, "../../docs/snippets/tenants");
const KEYS = ["acme", "globex"];
const ADA = { email: "ada@acme.example", email_verified: true, name: "Ada", groups: ["admin"] };

let providers: TestProviders;
let user: TestBrowser | undefined;
let closeServer: (() => Promise<unknown>) | undefined;

beforeEach(async () => {
  const people = { acme: ADA, globex: { email: "eve@globex.example", name: "Eve" } };
  providers = await startTestProviders({
    acme: { person: people.acme },
    globex: { person: people.globex },
  });
  given.options = { env: providers.env, clock: providers.clock, log: false };
  for (const key of KEYS) {
    const { issuer, clientId, clientSecret } = providers.get(key);
    const encryptedSecret = encrypt(clientSecret);
    await customers.save({ key, issuer, clientId, encryptedSecret, domains: [`${key}.example`] });
  }
});

afterEach(async () => {
  vi.restoreAllMocks();
  await user?.close();
  user = undefined;
  await closeServer?.();
  await providers.stop();
});

/** The application listens before it is loaded, because its BASE_URL contains the port. */
async function open(file: string): Promise<TestBrowser> {
  const loaded: { app?: RequestListener } = {};
  const server = createServer((request, response) => loaded.app?.(request, response));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  given.options = { ...given.options, baseUrl: `http://127.0.0.1:${port}` };
  Object.assign(loaded, await import(`${SNIPPETS}/${file}.ts`));
  closeServer = async () => once(server.close(), "close");
  return (user = await browser(server));
}

it("app.ts lets the users of one customer pass, and sends others to a login at it", async () => {
  const ada = await open("app");
  expect((await ada.follow("/t/acme/reports")).json()).toEqual({ customer: "acme", hello: "Ada" });
  expect((await ada.get("/t/globex/reports")).status).toBe(401);
  expect((await ada.navigate("/t/globex/reports")).location).toContain("provider=globex");
  expect((await ada.get("/t/unknown/reports")).status).toBe(404);
  expect((await ada.navigate("/idpauth/login/")).text).toContain('name="email"');
});

it("subdomains.ts begins each login at the subdomain of its customer", async () => {
  const { app } = (await import(`${SNIPPETS}/subdomains.ts`)) as { app: RequestListener };
  const server = createServer(app);
  await once(server.listen(0, "127.0.0.1"), "listening");
  closeServer = async () => once(server.close(), "close");
  const { port } = server.address() as AddressInfo;
  const open = async (url: string) => {
    const { host, pathname, search } = new URL(url);
    const headers = { host, accept: "text/html", "sec-fetch-mode": "navigate" };
    const request = get({ host: "127.0.0.1", port, path: pathname + search, headers });
    const [response] = (await once(request, "response")) as [IncomingMessage];
    response.resume();
    return { status: response.statusCode, location: response.headers.location };
  };

  const login = "/idpauth/login/?provider=acme&login_hint=ada%40acme.example";
  expect(await open(`http://localhost:3000${login}`)).toEqual({
    status: 302,
    location: `http://acme.localhost:3000${login}`,
  });
  const { location } = await open(`http://acme.localhost:3000${login}`);
  const { origin, searchParams } = new URL(location ?? "");
  expect(origin).toBe(new URL(providers.get("acme").issuer).origin);
  expect(searchParams.get("redirect_uri")).toBe(
    "http://acme.localhost:3000/idpauth/login-callback/acme",
  );
  expect((await open("http://acme.localhost:3000/reports")).location).toContain("provider=acme");
  expect((await open("http://unknown.localhost:3000/reports")).status).toBe(404);
  expect((await open("http://acme.example:3000/reports")).status).toBe(421);
});

it("users.ts stores a user under the key of the provider, iss and sub", async () => {
  const query = vi.fn().mockResolvedValue({ rows: [{ id: "7" }] });
  vi.spyOn(pool, "query").mockImplementation(query);
  const ada = await open("users");
  await ada.follow("/idpauth/login/?provider=acme");
  expect((await ada.get("/t/acme/me")).json()).toEqual({ userId: 7 });
  expect(query).toHaveBeenCalledExactlyOnceWith(expect.stringContaining("(provider, iss, sub)"), [
    "acme",
    providers.get("acme").issuer,
    expect.any(String),
    "ada@acme.example",
  ]);
});

it("staff.ts has a provider of its own for staff, and the source for customers", async () => {
  const { issuer, clientId, clientSecret } = await providers.add("staff");
  const env = {
    ...providers.env,
    IDP_PROVIDER_STAFF_ISSUER: issuer,
    IDP_PROVIDER_STAFF_CLIENT_ID: clientId,
    IDP_PROVIDER_STAFF_CLIENT_SECRET: clientSecret,
  };
  given.options = { ...given.options, env };
  const staff = await open("staff");
  expect((await staff.follow("/idpauth/login/?provider=acme")).status).toBe(200);
  expect((await staff.get("/support")).status).toBe(401);
  expect((await staff.follow("/support")).json()).toBe("support");
});

it("settings-page.ts saves settings that work, and shows what to register", async () => {
  const ada = await open("settings-page");
  const page = await ada.follow("/t/acme/sso");
  expect(page.json()).toEqual({
    redirectUri: expect.stringMatching(/\/idpauth\/login-callback\/acme$/),
    loginUrl: expect.stringMatching(/\/idpauth\/login\/\?provider=acme$/),
  });
  const { issuer, clientId, clientSecret } = providers.get("acme");
  const post = (settings: object) =>
    ada.get("/t/acme/sso", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(settings),
    });
  const wrong = await post({ issuer: `${issuer}/other`, clientId, clientSecret });
  expect([wrong.status, wrong.json()]).toEqual([
    422,
    expect.arrayContaining([expect.objectContaining({ severity: "error" })]),
  ]);
  expect((await post({ issuer, clientId, clientSecret })).json()).toEqual({ saved: true });
});
