import express from "express";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { parseEnv } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { idpAuth } from "../../src/adapters/express/express.js";
import { memoryStore } from "../../src/index.js";
import { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import { buttonsIn, choose } from "../support/choose-person.mjs";
import { emptyFolder, startProvider } from "./provider-run.js";

const ORDERS = "https://orders.example.com";

/** Serves an application on a free port. */
async function listen(app: express.Express): Promise<string> {
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}

/** An API that checks tokens of one issuer, as an API in production does. */
async function startApi(issuer: string): Promise<string> {
  const jwks = createRemoteJWKSet(new URL(`${issuer}/jwks`));
  const app = express();
  app.get("/whoami", async (request, response) => {
    const token = (request.headers.authorization ?? "").replace("Bearer ", "");
    const options = { issuer, audience: ORDERS, typ: "at+jwt" };
    try {
      response.json((await jwtVerify(token, jwks, options)).payload);
    } catch (error) {
      response.status(401).json({ why: String(error) });
    }
  });
  return listen(app);
}

/** An application with the settings in a file and nothing else. */
async function startApplication(folder: string, apiUrl: string) {
  const env = parseEnv(readFileSync(path.join(folder, ".env"), "utf8"));
  const app = express();
  const origin = await listen(app);
  const lines: unknown[] = [];
  const auth = idpAuth({
    env: { ...env, BASE_URL: origin },
    store: memoryStore(),
    log: (entry) => lines.push(entry),
    apis: { orders: { url: `${apiUrl}/`, resource: ORDERS } },
  });
  auth.mount(app);
  app.get("/who", auth.idpRequired, async (request, response) => {
    const { user, provider } = await auth.requireSession(request);
    const called = await auth.fetchApi(request, "orders", "whoami");
    response.json({ name: user.name, provider, api: await called.json() });
  });
  return { origin, env, lines };
}

describe("several providers of `idpauth provider`", () => {
  it("one .env is all that an application needs to sign users in at each, and to call an API that checks tokens", async () => {
    const folder = emptyFolder();
    const provider = await startProvider(
      [
        "--port=0",
        "--providers=staff,customers",
        "--write-env",
        "--staff.client-key",
        "--customers.require-pushed-requests",
        "--customers.person=Carol <carol@example.com>",
      ],
      { folder },
    );
    const issuer = (key: string) => `${provider.issuer}/${key}`;
    const moduli = new Set<string>();
    for (const key of ["staff", "customers"]) {
      const api = await startApi(issuer(key));
      const { origin, lines } = await startApplication(folder, api);
      const browser = new CookieBrowser({ origin });
      const page = await browser.follow(`/idpauth/login/?provider=${key}`);
      expect(page.url.pathname).toBe(`/${key}/authorize`);
      expect(page.url.searchParams.has("request_uri")).toBe(key === "customers");
      const [person] = buttonsIn(page.text);
      await choose(browser, page, person?.text ?? "");
      const { keys } = (await (await fetch(`${issuer(key)}/jwks`)).json()) as {
        keys: { n: string }[];
      };
      for (const { n } of keys) moduli.add(n);
      const who = await browser.get("/who");
      const subject = key === "staff" ? "ada" : expect.any(String);
      expect(who.json()).toMatchObject({
        name: key === "staff" ? "Ada Lovelace" : "Carol",
        provider: key,
        api: { iss: issuer(key), sub: subject, aud: ORDERS, client_id: `idpauth-dev-${key}` },
      });
      expect(lines.filter((line) => (line as { level: string }).level === "error")).toEqual([]);
    }
    // A leak of one provider's key doesn't affect the other one.
    expect(moduli.size).toBe(2);
    expect(provider.stderr()).toBe("");
  });

  it("have different signing keys", async () => {
    const argv = ["--port=0", "--providers=staff,customers"];
    const provider = await startProvider(argv, { folder: emptyFolder() });
    const keyOf = async (key: string) => {
      const response = await fetch(`${provider.issuer}/${key}/jwks`);
      return ((await response.json()) as { keys: Record<string, string>[] }).keys[0]?.["n"];
    };
    const staff = await keyOf("staff");
    expect(staff).toMatch(/^[\w-]{342}$/);
    expect(await keyOf("customers")).not.toBe(staff);
  });

  it("are printed as an administrator enters them on a settings page, with a secret only where there is one", async () => {
    const argv = ["--port=0", "--providers=acme,globex", "--globex.client-key", "--write-env"];
    const provider = await startProvider(argv, { folder: emptyFolder() });
    expect(provider.stdout).toMatch(
      new RegExp(
        `on a settings page, enter these:

acme
  Issuer         ${provider.issuer}/acme
  Client ID      idpauth-dev-acme
  Client secret  [\\w-]{43}
globex
  Issuer         ${provider.issuer}/globex
  Client ID      idpauth-dev-globex
`,
      ),
    );
    const single = await startProvider(["--port=0"], { folder: emptyFolder() });
    expect(single.stdout).not.toContain("Client secret");
  });
});
