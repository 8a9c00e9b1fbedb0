import { spawn } from "node:child_process";
import { createHash, createHmac, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { parseEnv } from "node:util";
import express from "express";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { idpAuth } from "../../src/adapters/express/express.js";
import { memoryStore } from "../../src/stores/memory/memory-store.js";
import { CookieBrowser, signIn, startTestProvider } from "../../src/testing/index.js";
import { TestUser } from "../browser/test-user.js";
import { choose, submission } from "../support/choose-person.mjs";
import { chromiumForTests, launchChromium } from "../support/chromium.js";
import { ensureProgram } from "../support/debian-package.js";
import { leaveOpen } from "../samples/hostile-client.js";
import { eventually } from "../support/eventually.js";
import { freePort } from "../support/free-port.js";
import { ExampleProcess, installExample, manifestOf, PackedPackage } from "./example-process.js";

// examples/several-services outside the project, over the packed package, as its README starts it:
// what docs/how-to/several-services.md says about a gateway and its services.

const ROOT = path.resolve(import.meta.dirname, "../..");
const EXAMPLE = path.join(ROOT, "examples/several-services");
const SERVICES = ["orders", "billing", "reports"] as const;
type Service = (typeof SERVICES)[number];

const REPORTS_CLIENT = { REPORTS_CLIENT_ID: "reports", REPORTS_CLIENT_SECRET: "secret" };
/** Milliseconds, for a build on a busy machine. */
const BUILD = 240_000;

const executablePath = await chromiumForTests();
const python = await ensureProgram("python3", "python3");

it("the gateway has at most 24 lines", () => {
  const lines = readFileSync(path.join(EXAMPLE, "gateway.mjs"), "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("//"));
  expect(lines.length).toBeLessThanOrEqual(24);
});

it("the example is private, and depends on the versions that the project is tested with", () => {
  const { version, dependencies, devDependencies } = manifestOf(ROOT);
  const example = manifestOf(EXAMPLE);
  expect(example.private).toBe(true);
  expect({ ...devDependencies, ...dependencies, idpauth: `^${version ?? ""}` }).toMatchObject({
    ...example.dependencies,
    ...example.devDependencies,
  });
});

it("applications on subdomains with one client, SECRET_KEY and store accept each other's cookies, and with clients of their own they don't", async () => {
  const provider = await startTestProvider();
  const store = memoryStore();
  const servers: http.Server[] = [];
  const start = async (clientId = provider.clientId) => {
    const app = express();
    idpAuth({ env: provider.env, clientId, store }).mount(app);
    const server = app.listen(0, "localhost");
    servers.push(server);
    await once(server, "listening");
    return `http://localhost:${String((server.address() as AddressInfo).port)}`;
  };
  try {
    const [orders, billing, reports] = [await start(), await start(), await start("reports")];
    const user = await signIn(orders);
    const cookie = user.cookies.header(new URL(orders)) ?? "";
    const isSignedIn = async (origin: string) => {
      const response = await fetch(`${origin}/idpauth/session`, { headers: { cookie } });
      return ((await response.json()) as { authenticated: boolean }).authenticated;
    };
    const all = await Promise.all([orders, billing, reports].map(isSignedIn));
    expect(all).toEqual([true, true, false]);
  } finally {
    for (const server of servers) server.close().closeAllConnections();
    await provider.stop();
  }
});

it.skipIf(python === undefined)(
  "the service in Python ends by itself although strangers leave connections open",
  async () => {
    const port = await freePort();
    const env = { PATH: process.env["PATH"], PORT: String(port), ...REPORTS_CLIENT };
    const child = spawn(python!, ["reports.py"], { cwd: EXAMPLE, env, stdio: "ignore" });
    try {
      await eventually(() => leaveOpen(port, "/"));
      const since = performance.now();
      child.kill();
      expect(await once(child, "exit")).toEqual([0, null]);
      expect(performance.now() - since).toBeLessThan(5_000);
    } finally {
      child.kill("SIGKILL");
    }
  },
);

describe.skipIf(python === undefined)("examples/several-services", () => {
  let packed: PackedPackage;
  let folder: string;
  let example: ExampleProcess;
  let origin: string;
  let issuer: string;
  /** The settings of the gateway. */
  let settings: NodeJS.Dict<string>;

  beforeAll(async () => {
    packed = await PackedPackage.pack();
    folder = installExample(EXAMPLE, packed);
    const [port, providerPort] = [await freePort(), await freePort()];
    issuer = `http://127.0.0.1:${String(providerPort)}`;
    const env = { PORT: String(port), PROVIDER_PORT: String(providerPort), PYTHON: python! };
    example = new ExampleProcess(folder, env, "start", "pipe");
    await eventually(async () => {
      expect(example.stdout + example.stderr).toContain("Ctrl+C stops everything");
    });
    origin = `http://localhost:${String(port)}`;
    settings = parseEnv(readFileSync(path.join(folder, ".env"), "utf8"));
  }, BUILD);
  afterAll(async () => {
    const { code, stderr } = await example.interrupt();
    await example.end();
    rmSync(folder, { recursive: true, force: true });
    packed.remove();
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.not.stringMatching(/ {4}at |Traceback/),
    });
  });

  /** Signs a person in, who then has a session at the gateway. */
  async function signedIn(person = "Ada"): Promise<CookieBrowser> {
    const browser = new CookieBrowser({ origin });
    await choose(browser, await browser.follow("/idpauth/login/?rd=/"), person);
    return browser;
  }

  async function statusesOf(browser: CookieBrowser): Promise<Record<Service, number>> {
    const all = SERVICES.map(async (name) => [name, (await browser.get(`/api/${name}/`)).status]);
    return Object.fromEntries(await Promise.all(all)) as Record<Service, number>;
  }

  it("one sign-in is enough for all services, and each one knows the user", async () => {
    const ada = await signedIn();
    const texts = await Promise.all(
      SERVICES.map(async (name) => (await ada.get(`/api/${name}/`)).json() as unknown),
    );
    expect(texts).toEqual([
      [{ text: "Punched cards", by: "nobody" }],
      [{ invoice: 1, euros: 12, for: "ada" }],
      [{ report: "Visitors", for: "ada" }],
    ]);
    const stranger = new CookieBrowser({ origin });
    expect(await statusesOf(stranger)).toEqual({ orders: 401, billing: 401, reports: 401 });
  });

  describe("tokens", () => {
    let tokens: Record<Service, Tokens>;
    beforeAll(async () => {
      const all = SERVICES.map(async (name) => [name, await tokensFor(name)] as const);
      tokens = Object.fromEntries(await Promise.all(all)) as typeof tokens;
    });

    it("a service accepts its own token, and refuses one for another service", async () => {
      const got = SERVICES.flatMap((service) =>
        SERVICES.map(async (audience) => {
          const { status } = await call(service, tokens[audience].access_token);
          return { service, audience, status };
        }),
      );
      const expected = SERVICES.flatMap((service) =>
        SERVICES.map((audience) => ({
          service,
          audience,
          status: service === audience ? 200 : 401,
        })),
      );
      expect(await Promise.all(got)).toEqual(expected);
    });

    it.each(SERVICES)("%s refuses every other token", async (service) => {
      const { access_token: valid, id_token: id, refresh_token: refresh } = tokens[service];
      const [header = "", payload = "", signature = ""] = valid.split(".");
      const { kid } = decoded(header);
      const claims = decoded(payload);
      const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
      const data = (head: object, body: object) => `${encoded(head)}.${encoded(body)}`;
      const jwks = await (await fetch(`${issuer}/jwks`)).text();
      const unsigned = data({ alg: "none", typ: "at+jwt" }, claims);
      const hmac = data({ alg: "HS256", typ: "at+jwt", kid }, claims);
      const foreign = data({ alg: "RS256", typ: "at+jwt", kid }, claims);
      const wrong = {
        none: undefined,
        empty: "",
        "the ID token": id,
        "the refresh token": refresh,
        unsigned: `${unsigned}.`,
        "signed with the public key": `${hmac}.${createHmac("sha256", jwks).update(hmac).digest("base64url")}`,
        "signed with another key": `${foreign}.${sign("sha256", Buffer.from(foreign), privateKey).toString("base64url")}`,
        changed: `${header}.${encoded({ ...claims, sub: "grace" })}.${signature}`,
      };
      for (const [name, token] of Object.entries(wrong))
        expect({ name, ...(await call(service, token)) }).toEqual({ name, ...REFUSED });
      const { access_token: unscoped } = await tokensFor(service, "openid");
      expect((await call(service, unscoped)).status).toBe(403);
    });

    it("a service that asks the provider notices a logout at once, the others when the token expires", async () => {
      const before = await Promise.all(
        SERVICES.map((each) => call(each, tokens[each].access_token)),
      );
      expect(before.map(({ status }) => status)).toEqual([200, 200, 200]);
      await endAtProvider("ada");
      const after = await Promise.all(
        SERVICES.map((each) => call(each, tokens[each].access_token)),
      );
      expect(after.map(({ status }) => status)).toEqual([200, 200, 401]);
    });
  });

  it("a service that can't reach the provider responds with 503, not with 401", async () => {
    const closed = `http://127.0.0.1:${String(await freePort())}/`;
    const env = {
      PATH: process.env["PATH"],
      IDP_ISSUER: issuer,
      JWKS_URI: closed,
      INTROSPECTION_ENDPOINT: closed,
      ...REPORTS_CLIENT,
    };
    const { access_token: token } = await tokensFor("orders");
    const commands = [
      [process.execPath, "orders.mjs"],
      [process.execPath, "billing.mjs"],
      [python!, "reports.py"],
    ] as const;
    const statuses = commands.map(async ([program, file]) => {
      const port = String(await freePort());
      const child = spawn(program, [file], { cwd: folder, env: { ...env, PORT: port } });
      try {
        return await eventually(async () => {
          const headers = { authorization: `Bearer ${token}` };
          return (await fetch(`http://127.0.0.1:${port}/`, { headers })).status;
        });
      } finally {
        child.kill();
      }
    });
    expect(await Promise.all(statuses)).toEqual([503, 503, 503]);
  });

  it("only the gateway knows SECRET_KEY, and orders and billing know no secret at all", () => {
    const known = (name: string) =>
      Object.keys(environmentOf(pidsOf(name)[0]!)).filter((key) => /SECRET|STORE|CLIENT/.test(key));
    expect(known("gateway")).toEqual(expect.arrayContaining(["SECRET_KEY", "IDP_CLIENT_SECRET"]));
    expect([known("orders"), known("billing")]).toEqual([[], []]);
    expect(known("reports").sort()).toEqual(["REPORTS_CLIENT_ID", "REPORTS_CLIENT_SECRET"]);
  });

  it("a service that's down is a 502 on its path, the others go on, and nobody is signed out", async () => {
    const ada = await signedIn();
    await example.type("stop billing", "billing is stopped");
    await eventually(async () => {
      expect(await statusesOf(ada)).toEqual({ orders: 200, billing: 502, reports: 200 });
    });
    expect((await ada.get("/api/billing/")).json()).toMatchObject({ code: "api_unreachable" });
    const session = await ada.get("/idpauth/session");
    expect(session.json()).toMatchObject({ authenticated: true });
    await example.type("start billing", "billing runs at");
    expect(await statusesOf(ada)).toEqual({ orders: 200, billing: 200, reports: 200 });
  });

  it("deployments of every service and of the gateway lose no request, and nobody is signed out", async () => {
    const ada = await signedIn();
    const cookie = ada.cookies.header(new URL(origin)) ?? "";
    const before = Object.fromEntries(PARTS.map((name) => [name, pidsOf(name)]));
    const load = startLoad(origin, cookie);
    for (const deployed of [["orders"], ["billing", "reports"], ["gateway"]]) {
      // Its service or its gateway is replaced while its body is still arriving.
      const order = beginOrder(origin, cookie);
      await load.responses(10);
      await Promise.all(deployed.map((name) => example.type(`deploy ${name}`, `${name}: `)));
      await load.responses(10);
      expect(await order.end()).toBe(201);
      await eventually(async () => {
        for (const name of deployed) expect(example.stdout).toContain(`${name} is deployed`);
      });
      await load.responses(10);
    }
    const counts = await load.end();
    const many: unknown = expect.toSatisfy((count: number) => count > 5);
    expect(counts).toEqual({
      "GET /api/orders/ 200": many,
      "GET /api/billing/ 200": many,
      "GET /api/reports/ 200": many,
      "POST /api/orders/ 201": many,
    });
    const after = Object.fromEntries(PARTS.map((name) => [name, pidsOf(name)]));
    for (const name of PARTS)
      expect(after[name]!.filter((pid) => before[name]!.includes(pid))).toEqual([]);
  });

  it("when the provider ends a session, the user is signed out of all services on all devices", async () => {
    const devices = [await signedIn("Grace"), await signedIn("Grace")];
    const statuses = () => Promise.all(devices.map(statusesOf));
    const all = (status: number) => ({ orders: status, billing: status, reports: status });
    expect(await statuses()).toEqual([all(200), all(200)]);
    await endAtProvider("grace");
    await eventually(async () => {
      expect(await statuses()).toEqual([all(401), all(401)]);
    });
  });

  describe.skipIf(executablePath === undefined)("in Chromium", () => {
    it("one logout signs the user out of all services on all devices, and so does the page of devices", async () => {
      const browser = await launchChromium(executablePath!);
      try {
        const [laptop, phone] = [
          await TestUser.arrive(browser, origin),
          await TestUser.arrive(browser, origin),
        ];
        const both = [await laptop.askFor("/"), await phone.askFor("/")];
        const signInAgain = async (tab: Page) => {
          await tab.getByRole("link", { name: "Sign in" }).click();
          await tab.getByRole("button", { name: "Ada Lovelace" }).click();
          await says(tab, "Hello Ada Lovelace.", 200);
        };
        for (const tab of both) await signInAgain(tab);
        for (const { domain, httpOnly } of await laptop.context.cookies(origin))
          expect({ domain, httpOnly }).toEqual({ domain: "localhost", httpOnly: true }); // no subdomain

        const [first, second] = both as [Page, Page];
        await first.getByRole("link", { name: "Sign out" }).click();
        for (const tab of both) await says(tab, "Signed out.", 401);

        for (const tab of both) await signInAgain(tab);
        await second.getByRole("link", { name: "Your devices" }).click();
        await second.getByRole("button", { name: "Sign out everywhere" }).click();
        await second.goto(phone.url("/"));
        for (const tab of both) await says(tab, "Signed out.", 401);

        expect(laptop.complaints).toEqual([]);
      } finally {
        await browser.close();
      }
    });
  });

  /** What the page says about the user, and the status of every service, after a click. */
  async function says(tab: Page, user: string, status: number): Promise<void> {
    await eventually(async () => {
      await tab.getByRole("button", { name: "Ask again" }).click();
      const lines = await tab.locator("li").allInnerTexts();
      expect(await tab.locator("#user").innerText()).toBe(user);
      expect(lines.map((line) => line.split(" ", 2).join(" "))).toEqual(
        SERVICES.map((name) => `${name}: ${String(status)}`),
      );
    });
  }

  /** An administrator ends a person's session, as the button on the provider's page does. */
  async function endAtProvider(person: string): Promise<void> {
    const body = new URLSearchParams({ person });
    expect((await fetch(`${issuer}/end`, { method: "POST", body })).status).toBe(200);
  }

  /** Tokens of a sign-in outside the gateway, whose client's credentials the test knows. */
  async function tokensFor(service: Service, scope = `openid ${service}`): Promise<Tokens> {
    const verifier = randomBytes(32).toString("base64url");
    const redirect = `${origin}/nowhere`;
    const query = new URLSearchParams({
      response_type: "code",
      client_id: settings["IDP_CLIENT_ID"]!,
      redirect_uri: redirect,
      scope,
      resource: `https://${service}.example.com`,
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
    });
    const browser = new CookieBrowser({ origin: issuer });
    const chosen = submission(await browser.follow(`/authorize?${String(query)}`), "Ada");
    const { url, ...options } = chosen;
    const { location = "" } = await browser.get(url, options);
    const response = await fetch(`${issuer}/token`, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "authorization_code",
        code: new URL(location).searchParams.get("code") ?? "",
        code_verifier: verifier,
        redirect_uri: redirect,
        client_id: settings["IDP_CLIENT_ID"]!,
        client_secret: settings["IDP_CLIENT_SECRET"]!,
      }),
    });
    expect(response.status).toBe(200);
    return (await response.json()) as Tokens;
  }

  /** A request that doesn't come from the gateway. */
  async function call(service: Service, token: string | undefined) {
    const [, url = ""] = new RegExp(`${service} runs at (\\S+)`).exec(example.stdout) ?? [];
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const response = await fetch(url, { headers });
    await response.arrayBuffer();
    return { status: response.status, challenge: response.headers.get("www-authenticate") };
  }

  /** The processes of a service or the gateway, as the example has written them last. */
  function pidsOf(name: string): readonly string[] {
    const line = new RegExp(`^${name} (?:runs|is deployed).* \\(processes (.*)\\)$`, "gm");
    return [...example.stdout.matchAll(line)].at(-1)?.[1]?.split(", ") ?? [];
  }
});

interface Tokens {
  readonly access_token: string;
  readonly id_token: string;
  readonly refresh_token: string;
}

const PARTS = [...SERVICES, "gateway"] as const;
const REFUSED = { status: 401, challenge: 'Bearer error="invalid_token"' };

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function decoded(part: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(part, "base64url").toString()) as Record<string, unknown>;
}

/** What a running process got as its environment. */
function environmentOf(pid: string): NodeJS.Dict<string> {
  return Object.fromEntries(
    readFileSync(`/proc/${pid}/environ`, "utf8")
      .split("\0")
      .map((line) => [line.split("=", 1)[0]!, line.slice(line.indexOf("=") + 1)] as const),
  );
}

interface Load {
  /** Waits for this many more responses. */
  responses(count: number): Promise<void>;
  /** How many responses of each kind there were. */
  end(): Promise<Readonly<Record<string, number>>>;
}

/** Four connections that send one request after the other, as a signed-in user's page does. */
function startLoad(origin: string, cookie: string): Load {
  const kinds = [
    ["GET", "/api/orders/"],
    ["GET", "/api/billing/"],
    ["GET", "/api/reports/"],
    ["POST", "/api/orders/"],
  ] as const;
  const counts: Record<string, number> = {};
  let isOver = false;
  let total = 0;
  const ends = Array.from({ length: 4 }, async (_each, connection) => {
    for (let number = connection; !isOver; number += 1) {
      const [method, target] = kinds[number % kinds.length]!;
      const said = await fetch(`${origin}${target}`, {
        ...{ method, headers: { cookie, "sec-fetch-site": "same-origin" } },
        ...(method === "POST" && { body: '{"text":"Paper"}' }),
      }).then(
        async (response) => {
          await response.arrayBuffer();
          return String(response.status);
        },
        (error: unknown) => String((error as Error).cause ?? error),
      );
      const kind = `${method} ${target} ${said}`;
      counts[kind] = (counts[kind] ?? 0) + 1;
      total += 1;
    }
  });
  return {
    async responses(count) {
      const wanted = total + count;
      await eventually(async () => {
        expect(total).toBeGreaterThanOrEqual(wanted);
      });
    },
    async end() {
      isOver = true;
      await Promise.all(ends);
      return counts;
    },
  };
}

/** A POST whose body has begun. */
function beginOrder(origin: string, cookie: string): { end(): Promise<number> } {
  const headers = { cookie, "sec-fetch-site": "same-origin", "content-length": 16 };
  const outgoing = http.request(`${origin}/api/orders/`, { method: "POST", headers });
  const status = new Promise<number>((resolve, reject) => {
    outgoing.on("error", reject).on("response", (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
  });
  status.catch(() => undefined); // reported by `end`
  outgoing.write('{"text":');
  return {
    end() {
      outgoing.end('"Paper"}');
      return status;
    },
  };
}
