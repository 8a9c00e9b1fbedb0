import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import express from "express";
import { afterEach, describe, expect, it } from "vitest";
import { idpAuth, type ExpressIdpAuth } from "../../src/adapters/express/express.js";
import type { IdpAuthOptions } from "../../src/index.js";
import { memoryStore } from "../../src/stores/memory/memory-store.js";
import { rawRequest } from "../../packages/idpauth-conformance/src/adapter/raw-request.js";
import { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";
import { listen } from "../adapters/applications/listen.js";
import { ensureProgram } from "../support/debian-package.js";
import { eventually } from "../support/eventually.js";
import { freePort } from "../support/free-port.js";
import { endingWithUs } from "../support/postgres-server.js";

const nginx = await ensureProgram("nginx", "nginx");
const ORIGIN = "https://app.example";
const SECRET = "MEMBERS ONLY";

const running: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of running.splice(0).reverse()) await stop();
});

async function provider(): Promise<TestProvider> {
  const started = await startTestProvider();
  running.push(() => started.stop());
  return started;
}

function optionsFor(
  { clientId, clientSecret, issuer }: TestProvider,
  options: IdpAuthOptions,
): IdpAuthOptions {
  return {
    env: {},
    log: false,
    secretKey: "a secret key of at least 32 bytes",
    clientId,
    clientSecret,
    issuer,
    ...options,
  };
}

async function serve(app: express.Express): Promise<number> {
  const server = await listen(app);
  running.push(() => server.stop());
  return server.port;
}

/**
 * Two components below paths of one origin, as in the documentation: one store and one SECRET_KEY
 * for both.
 */
describe("[ATT-5] next to another application on the same origin", () => {
  async function start() {
    const [own, theirs] = [await provider(), await provider()];
    const store = memoryStore();
    const app = express();
    const mounted = (of: TestProvider, area: string): ExpressIdpAuth => {
      const auth = idpAuth(optionsFor(of, { store, mountPath: `/${area}/idpauth/` }));
      const router = express.Router();
      auth.mount(router);
      router.get(
        "/reports",
        auth.idpRequired,
        (_request, response) => void response.send(`${SECRET} of ${area}`),
      );
      app.use(`/${area}`, router);
      return auth;
    };
    mounted(own, "shop");
    mounted(theirs, "wiki");
    const origin = `http://127.0.0.1:${String(await serve(app))}`;
    return { own, theirs, browser: () => new CookieBrowser({ origin }) };
  }

  it("a user of the neighbour who sends their session's value under our cookie's name is signed out here, and stays signed in there", async () => {
    const { own, browser } = await start();
    const mallory = browser();
    expect((await mallory.follow("/wiki/reports")).text).toBe(`${SECRET} of wiki`);
    const value = mallory.cookies.value("idpauth.wiki.idpauth") ?? "";
    expect(value).toHaveLength(43);
    for (const name of [
      "idpauth.shop.idpauth",
      "idpauth",
      "idpauth.shop",
      "idpauth.SHOP.idpauth",
    ]) {
      const headers = { cookie: `${name}=${value}` };
      expect((await mallory.get("/shop/idpauth/session", { headers })).json()).toEqual({
        authenticated: false,
        user: null,
      });
      const guarded = await mallory.get("/shop/reports", { headers });
      expect([guarded.status, guarded.text.includes(SECRET)]).toEqual([401, false]);
    }
    expect(own.requestsTo("token")).toEqual([]);
    expect((await mallory.get("/wiki/reports")).text).toBe(`${SECRET} of wiki`);
  });

  it("a callback that is delivered to the neighbour's endpoint is refused there without a token request, and still works here", async () => {
    const { own, theirs, browser } = await start();
    const user = browser();
    const login = await user.navigate("/shop/idpauth/login/");
    const callback = new URL(await own.signInCode(login.location ?? ""));
    // The user also has a pending login at the neighbour.
    await user.navigate("/wiki/idpauth/login/");
    for (const endpoint of [
      "/wiki/idpauth/login-callback",
      "/shop/..%2fwiki/idpauth/login-callback",
      "/wiki/idpauth/login-callback/",
    ]) {
      const response = await user.navigate(`${endpoint}${callback.search}`);
      expect([response.status >= 400, response.setCookies], endpoint).toEqual([true, []]);
    }
    expect([own.requestsTo("token"), theirs.requestsTo("token")]).toEqual([[], []]);
    expect((await user.navigate(callback.href)).status).toBe(302);
    expect((await user.get("/shop/reports")).text).toBe(`${SECRET} of shop`);
    expect((await user.get("/wiki/reports")).status).toBe(401);
  });
});

describe.skipIf(nginx === undefined)("[ATT-5] behind nginx, which strips a path prefix", () => {
  /** nginx as in docs/deploy/proxies.md: `/portal/reports` goes on as `/reports`. */
  async function start(): Promise<{ readonly port: number; readonly provider: TestProvider }> {
    const own = await provider();
    const auth = idpAuth(optionsFor(own, { baseUrl: ORIGIN, pathPrefix: "/portal", debug: false }));
    const app = express();
    auth.mount(app);
    app.get("/reports", auth.idpRequired, (_request, response) => void response.send(SECRET));
    const [upstream, port, folder] = [
      await serve(app),
      await freePort(),
      mkdtempSync(path.join(tmpdir(), "idpauth-nginx-")),
    ];
    const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
      .map((each) => `${each}_temp_path ${folder}/${each};`)
      .join(" ");
    const configuration = `${process.getuid?.() === 0 ? "user root;" : ""}
daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log stderr; events {}
http { access_log off; ${temporary}
  server { listen 127.0.0.1:${String(port)};
    location /portal/ { proxy_pass http://127.0.0.1:${String(upstream)}/; proxy_set_header Host $http_host; } } }`;
    writeFileSync(path.join(folder, "nginx.conf"), configuration);
    const args = ["-e", "stderr", "-p", folder, "-c", path.join(folder, "nginx.conf")];
    const [command = "", ...rest] = [...(await endingWithUs("INT")), nginx ?? "", ...args];
    const child = spawn(command, rest, { stdio: "ignore" });
    const ended = new Promise((resolve) => child.once("exit", resolve));
    running.push(async () => {
      child.kill("SIGTERM");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    });
    await eventually(() => fetch(`http://127.0.0.1:${String(port)}/portal/`), 60_000);
    return { port, provider: own };
  }

  it("a stranger with forged prefix headers, dots, slashes and encodings gets no page without a sign-in, and no address outside the prefix", async () => {
    const { port, provider: idp } = await start();
    const lines = [
      "x-forwarded-prefix: //evil.example",
      "x-forwarded-host: evil.example",
      "x-script-name: /evil",
      "x-forwarded-uri: /idpauth/",
    ];
    const headers = [
      ...lines,
      "x-original-url: /idpauth/session",
      "host: app.example",
      "accept: text/html",
      "connection: close",
    ].join("\r\n");
    const targets = [
      "/portal/reports",
      "/portal//reports",
      "/portal/./reports",
      "/portal/x/../reports",
      "/portal/%2e%2e/portal/reports",
      "/portal/%72eports",
      "/portal/REPORTS",
      "/portal/reports%2f",
      "/portal/reports;/idpauth/session",
      "/portal/idpauth/../reports",
      "/portal/idpauth/%2e%2e%2freports",
      "/portal//evil.example/",
      "/portal/\\evil.example",
      "/portal/idpauth/login/?scheme=PRESERVE_ORIGIN_QP&origin_url=https://app.example.evil.example/portal/",
      "/portal/idpauth/logout/",
      "/portal/idpauth/",
      "/portal/idpauth",
      "/reports",
      "/portal/../reports",
    ];
    const ours = `${ORIGIN}/portal/`;
    for (const target of targets) {
      const { raw, header, body } = await rawRequest(
        port,
        `GET ${target} HTTP/1.1\r\n${headers}\r\n\r\n`,
      );
      expect(raw, target).not.toContain(SECRET);
      const links = [...body.matchAll(/(?:href|src|action)="([^"]*)"/g)].map(
        ([, link = ""]) => link,
      );
      const location = header("location");
      for (const address of [...links, ...(location === undefined ? [] : [location])]) {
        const { href, origin, searchParams } = new URL(address, ours);
        expect(
          href.startsWith(ours) || origin === new URL(idp.issuer).origin,
          `${target}: ${address}`,
        ).toBe(true);
        for (const name of ["redirect_uri", "origin_url"])
          expect(searchParams.get(name) ?? ours, `${target}: ${address}`).toMatch(
            /^https:\/\/app\.example\/portal\//,
          );
      }
    }
    const browser = new CookieBrowser({ origin: ORIGIN, proxied: { [ORIGIN]: port } });
    expect((await browser.follow("/portal/reports")).text).toBe(SECRET);
  });
});
