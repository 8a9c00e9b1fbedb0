import { execFileSync } from "node:child_process";
import { createServer, Agent as PlainAgent, request as requestPlain, type RequestListener, type RequestOptions } from "node:http"; // prettier-ignore
import { Agent, request as requestSecured } from "node:https";
import type { AddressInfo } from "node:net";
import express from "express";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { idpAuth as expressAuth } from "../../src/adapters/express/express.js";
import { idpAuth as fetchAuth } from "../../src/adapters/fetch/fetch.js";
import type { IdpAuthOptions } from "../../src/index.js";
import { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import { providersEnv, startTestProvider, type TestProvider } from "../../src/testing/index.js";
import { openHttp2 } from "./clients.js";
import { blocksOf, configurationsOf, HOSTNAME, ORIGIN, PROGRAMS, startProxy, type ProxyName, type RunningProxy } from "./programs.js"; // prettier-ignore

// The limits of docs/deploy/proxies.md: no spelling of a path that reaches idpauth escapes them.

/** How a server reads the path: as it was sent, or as the URL standard's parser resolves it. */
type Kind = "as sent" | "parsed";

/** Paths, with the kinds of servers at which they reach an endpoint of idpauth. */
const SPELLINGS: readonly (readonly [target: string, ...kinds: Kind[]])[] = [
  ["/idpauth/login", "as sent", "parsed"],
  ["/idpauth/login/", "as sent", "parsed"],
  ["/idpauth/login?x=1", "as sent", "parsed"],
  ["/idpauth/login-callback", "as sent", "parsed"],
  ["/idpauth/login-callback/", "as sent", "parsed"],
  ["/idpauth/login-callback/staff", "as sent", "parsed"],
  ["/idpauth/login-callback/staff/", "as sent", "parsed"],
  ["/idpauth/backchannel-logout/staff", "as sent", "parsed"],
  ["/idpauth/backchannel-logout/staff/", "as sent", "parsed"],
  [`${ORIGIN}/idpauth/login`, "as sent", "parsed"],
  [`${ORIGIN}/idpauth/x/../login`, "parsed"],
  ["/x/../idpauth/login", "parsed"],
  ["/idpauth/./login", "parsed"],
  ["/idpauth/x/%2E%2e/login", "parsed"],
  ["/idpauth/x/.%2e/login/.", "parsed"],
  ["/idpauth/%2e/login-callback/x/..", "parsed"],
  ["/idpauth/x/../backchannel-logout/staff", "parsed"],
  ["/idpauth//../login", "parsed"],
  ["/idpauth\\login", "parsed"],
  ["/idpauth/x\\..\\login", "parsed"],
  ["/idpauth\\backchannel-logout\\staff", "parsed"],
  ["/idpauth/login#x", "parsed"],
  ["/IDPAUTH/login"],
  ["/idpauth/LOGIN"],
  ["/%69dpauth/login"],
  ["/idpauth/log%69n"],
  ["//idpauth/login"],
  ["//%69dpauth//login"],
  ["/idpauth//login"],
  ["/idpauth/login//"],
  ["/idpauth/login;x"],
  ["/idpauth;x/login"],
  ["/x/..;/idpauth/login"],
  ["/idpauth%2Flogin"],
  ["/idpauth%5Clogin"],
  ["/idpauth/x%2F..%2Flogin"],
  ["/idpauth/login%3Fx"],
];

/** Those that a client with a prefix sends, of each pattern one. */
const BELOW_PREFIX = ["/idpauth/login/", "/idpauth/login-callback/staff", "/idpauth/backchannel-logout/staff", "/idpauth/x/../login", "/idpauth/x\\..\\login", "//idpauth//%6Cogin", "/idpauth%5Clogin", "/x%5C..%5Cidpauth%5Clogin", "/x%2F..%2Fidpauth/login"]; // prettier-ignore

/** The proxies with a limit, and more requests than it lets pass. */
const LIMITED: Readonly<Partial<Record<ProxyName, number>>> = {
  nginx: 100,
  haproxy: 105,
  apache: 110,
};

const methodOf = (target: string) => (target.includes("backchannel") ? "POST" : "GET");

/** Tells the server of a request for which spelling it is. */
const SPELLING = "x-spelling";

interface Server {
  readonly port: number;
  /** The spellings that have reached an endpoint of idpauth. */
  readonly reached: ReadonlySet<string>;
  stop(): Promise<void>;
}

let staff: TestProvider;
beforeAll(async () => {
  staff = await startTestProvider();
});
afterAll(() => staff.stop());

function listenerOf(kind: Kind, options: IdpAuthOptions): RequestListener {
  if (kind === "as sent") {
    const app = express();
    expressAuth(options).mount(app);
    return app;
  }
  const auth = fetchAuth(options);
  auth.start();
  return (request, response) => {
    const { method = "", headers, url = "" } = request;
    const parsed = new Request(new URL(url, ORIGIN), { method, headers: headers as Record<string, string> }); // prettier-ignore
    const found = Promise.resolve(auth.fetch(parsed));
    void found.then((answer) => response.writeHead(answer?.status ?? 404).end());
  };
}

/** An application with one provider, and below paths with its key, one with several. */
async function startServer(kind: Kind, options: IdpAuthOptions = {}): Promise<Server> {
  const [one, several] = [staff.env, providersEnv({ staff })].map((env) =>
    listenerOf(kind, {
      env,
      backchannelLogout: true,
      baseUrl: ORIGIN,
      log: false,
      secretKey: "a secret key of at least 32 bytes",
      ...options,
    }),
  );
  const reached = new Set<string>();
  const server = createServer((request, response) => {
    response.once("finish", () => {
      if (response.statusCode !== 404) reached.add(String(request.headers[SPELLING]));
    });
    (/[/\\]staff\b/.test(request.url ?? "") ? several : one)?.(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    reached,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Sends the same request several times, over a few connections, and returns the statuses. */
async function statuses(
  target: string,
  count: number,
  to: RequestOptions & { readonly ca?: string },
): Promise<readonly number[]> {
  const agent = new (to.ca === undefined ? PlainAgent : Agent)({ keepAlive: true, maxSockets: 4 });
  const send = to.ca === undefined ? requestPlain : requestSecured;
  const options = { ...to, host: "127.0.0.1", servername: HOSTNAME, agent, method: methodOf(target), path: target, headers: { host: HOSTNAME, [SPELLING]: target } }; // prettier-ignore
  const one = (): Promise<number> =>
    new Promise((resolve, reject) => {
      const sent = send(options, (response) => {
        response.resume().once("end", () => resolve(response.statusCode ?? 0));
      });
      // Apache closes the connection after a 429 that says Keep-Alive.
      const again = ({ code }: NodeJS.ErrnoException): boolean => code === "ECONNRESET";
      sent.once("error", (error) => (again(error) ? resolve(one()) : reject(error))).end();
    });
  const sent = Array.from({ length: count }, one);
  try {
    return await Promise.all(sent);
  } finally {
    agent.destroy();
  }
}

it.each<[Kind]>([["as sent"], ["parsed"]])(
  "without a proxy, these spellings reach a server that reads paths %s",
  async (kind) => {
    const server = await startServer(kind);
    for (const [target] of SPELLINGS) await statuses(target, 1, { port: server.port });
    await server.stop();
    expect([...server.reached]).toEqual(
      SPELLINGS.flatMap(([target, ...kinds]) => (kinds.includes(kind) ? [target] : [])),
    );
  },
);

describe.each(Object.entries(LIMITED) as [ProxyName, number][])("%s", (name, many) => {
  let proxy: RunningProxy;
  let server: Server;
  let address = 0;
  afterEach(async () => {
    await proxy.stop();
    await server.stop();
  });

  async function start(
    configuration: "complete" | "strips" | "keeps",
    kind: Kind,
    options: IdpAuthOptions = {},
  ): Promise<void> {
    server = await startServer(kind, options);
    proxy = await startProxy(name, {
      configuration: configurationsOf(name)[configuration],
      upstreams: { "localhost:3000": server.port },
    });
  }

  /** From an address that has sent nothing before. */
  function sent(target: string, count: number): Promise<readonly number[]> {
    address += 1;
    const localAddress = `127.9.${String(address >> 7)}.${String((address & 127) + 1)}`;
    return statuses(target, count, { port: proxy.port, ca: proxy.certificate, localAddress });
  }

  /** Of these, the ones that reach idpauth, and the ones of them that are never refused. */
  async function spellings(targets: readonly string[]) {
    const escaping: string[] = [];
    for (const target of targets) {
      await sent(target, 1);
      if (!server.reached.has(target)) continue;
      if (!(await sent(target, many)).includes(429)) escaping.push(target);
    }
    return { reaching: [...server.reached], escaping };
  }

  const title = "no spelling of a path that reaches a server, which reads paths %s, escapes the limit"; // prettier-ignore
  it.skipIf(PROGRAMS[name] === undefined).each<[Kind]>([["as sent"], ["parsed"]])(
    title,
    async (kind) => {
      await start("complete", kind);
      const { reaching, escaping } = await spellings(SPELLINGS.map(([target]) => target));
      expect(escaping).toEqual([]);
      const exact = SPELLINGS.flatMap(([target, , other]) => (other === undefined ? [] : [target]));
      expect(reaching).toEqual(expect.arrayContaining(exact));
      expect(reaching.length > exact.length).toBe(kind === "parsed" || name === "apache");
    },
    60_000,
  );

  it.skipIf(PROGRAMS[name] === undefined).each([
    ["strips", { pathPrefix: "/portal" }],
    ["keeps", { mountPath: "/portal/idpauth/" }],
  ] as const)("the limit holds with the configuration that %s the prefix", async (configuration, options) => {
    await start(configuration, "parsed", options);
    const { reaching, escaping } = await spellings(BELOW_PREFIX.map((target) => `/portal${target}`)); // prettier-ignore
    expect(escaping).toEqual([]);
    expect(reaching.length).toBeGreaterThan(4);
  }); // prettier-ignore

  it.skipIf(PROGRAMS[name] === undefined)("each client has its own limit, over HTTP/2 too, and other pages have none", async () => {
    await start("complete", "as sent");
    const from = async (localAddress: string, target: string, count: number) => {
      const client = await openHttp2(proxy, new CookieBrowser(proxy.browser), localAddress);
      const responses = Array.from({ length: count }, async () => {
        const request = client.open(methodOf(target), target);
        request.end();
        return (await request.response).status;
      });
      const found = await Promise.all(responses);
      client.close();
      return found;
    };
    for (const target of ["/idpauth/login/", "/idpauth/backchannel-logout/staff"]) {
      // Apache's counts lag behind the requests that it works on at the same time.
      expect(await from("127.0.0.19", target, 2 * many)).toContain(429);
      expect(await from("127.0.0.20", target, 5)).not.toContain(429);
    }
    expect(await from("127.0.0.19", "/idpauth/session", many)).not.toContain(429);
    expect(await from("127.0.0.19", "/pages/login", many)).not.toContain(429);
  }); // prettier-ignore
});

it.skipIf(PROGRAMS.caddy === undefined)("Caddy has no module that limits requests, as the page says", () => {
  const modules = execFileSync(PROGRAMS.caddy ?? "", ["list-modules"], { encoding: "utf8" });
  expect(modules).toContain("http.handlers.reverse_proxy");
  expect(modules).not.toMatch(/rate|limit/);
  expect(blocksOf("deploy/proxies.md", "caddy").join()).not.toContain("rate_limit");
}); // prettier-ignore
