import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import express from "express";
import { afterEach, describe, expect, it } from "vitest";
import { idpAuth } from "../../src/adapters/express/express.js";
import { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";
import { listen } from "../adapters/applications/listen.js";
import { ensureProgram } from "../support/debian-package.js";
import { eventually } from "../support/eventually.js";
import { freePort } from "../support/free-port.js";
import { endingWithUs } from "../support/postgres-server.js";

// The configurations of docs/deploy/proxies.md and forward-auth.md: nginx and Caddy accept them,
// and run the second page's. Only ports, certificates and the sample's settings differ.

const ROOT = path.resolve(import.meta.dirname, "../..");
const nginx = await ensureProgram("nginx", "nginx");
const caddy = await ensureProgram("caddy", "caddy");

const blocksOf = (page: string, language: string): string[] =>
  [
    ...readFileSync(path.join(ROOT, "docs/deploy", page), "utf8").matchAll(
      new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms"),
    ),
  ].map(([, text = ""]) => text);

const running: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of running.splice(0).reverse()) await stop();
});

function temporaryFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "idpauth-proxies-"));
  running.push(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** Writes a complete configuration around a page's block. */
function nginxConfiguration(folder: string, block: string, port: number): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((each) => `${each}_temp_path ${folder}/${each};`)
    .join(" ");
  const servers = /^server /m.test(block) ? block : `server { listen 443 ssl;\n${block} }`;
  const plain = servers
    .replace("listen 443 ssl;", `listen 127.0.0.1:${String(port)};`)
    .replace(/^ *ssl_certificate.*$/gm, "");
  const file = path.join(folder, "nginx.conf");
  writeFileSync(
    file,
    `${process.getuid?.() === 0 ? "user root;" : ""}
daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log stderr; events {}
http { access_log off; ${temporary}
${plain}
}`,
  );
  return file;
}

describe.skipIf(nginx === undefined)("nginx accepts", () => {
  it.each(["proxies.md", "forward-auth.md"])("every configuration of %s", async (page) => {
    const blocks = blocksOf(page, "nginx");
    expect(blocks.length).toBeGreaterThan(0);
    for (const block of blocks) {
      const folder = temporaryFolder();
      const file = nginxConfiguration(folder, block, await freePort());
      execFileSync(nginx ?? "", ["-t", "-q", "-e", "stderr", "-p", folder, "-c", file]);
    }
  });
});

describe.skipIf(caddy === undefined)("Caddy accepts", () => {
  it.each(["proxies.md", "forward-auth.md"])("every configuration of %s", (page) => {
    const blocks = blocksOf(page, "caddy");
    expect(blocks.length).toBeGreaterThan(0);
    for (const block of blocks) {
      const file = path.join(temporaryFolder(), "Caddyfile");
      writeFileSync(file, block);
      execFileSync(caddy ?? "", ["adapt", "--config", file, "--adapter", "caddyfile"], {
        stdio: "pipe",
      });
    }
  });
});

/** Writes the page's Caddyfile for plain http. */
function caddyConfiguration(folder: string, block: string, port: number): string {
  const file = path.join(folder, "Caddyfile");
  const site = block.replace("app.example.com {", `http://127.0.0.1:${String(port)} {`);
  writeFileSync(
    file,
    `{\n  admin off\n  auto_https off\n  storage file_system ${folder}\n}\n${site}`,
  );
  return file;
}

describe.each([
  { proxy: "nginx", program: nginx, sample: 0 },
  { proxy: "caddy", program: caddy, sample: 1 },
])("forward auth behind $proxy", ({ proxy, program, sample }) => {
  /** Runs a sample of the page, with this provider. */
  async function checkingApplication(provider: TestProvider, origin: string): Promise<number> {
    const code = blocksOf("forward-auth.md", "js")[sample] ?? "";
    const body = `${code.replace(/^import .*$/gm, "").replace("app.listen(3000);", "")}\nreturn app;`;
    const { clientId, clientSecret, issuer } = provider;
    const options = {
      env: {},
      log: false,
      secretKey: "a secret key of at least 32 bytes",
      clientId,
      clientSecret,
      issuer,
    } as const;
    // eslint-disable-next-line @typescript-eslint/no-implied-eval -- The page's own sample.
    const start = new Function("express", "idpAuth", body) as (
      ...given: readonly unknown[]
    ) => express.Express;
    const server = await listen(start(express, () => idpAuth({ ...options, baseUrl: origin })));
    running.push(() => server.stop());
    return server.port;
  }

  async function start(): Promise<{
    readonly user: CookieBrowser;
    readonly seen: string[];
    readonly cookies: (string | undefined)[];
  }> {
    const provider = await startTestProvider();
    running.push(() => provider.stop());
    const port = await freePort();
    const origin = `http://127.0.0.1:${String(port)}`;
    const checking = await checkingApplication(provider, origin);
    const seen: string[] = [];
    const cookies: (string | undefined)[] = [];
    const dashboard = express();
    dashboard.use((request, response) => {
      seen.push(`${request.method} ${request.url}`);
      cookies.push(request.get("Cookie"));
      response.cookie("dashboard", "1").send(`dashboard of ${request.get("X-User") ?? "nobody"}`);
    });
    const behind = await listen(dashboard);
    running.push(() => behind.stop());
    const folder = temporaryFolder();
    // Over plain http, the cookie's name has no prefix.
    const block = (blocksOf("forward-auth.md", proxy)[0] ?? "")
      .replaceAll("localhost:3000", `127.0.0.1:${String(checking)}`)
      .replaceAll("localhost:8080", `127.0.0.1:${String(behind.port)}`)
      .replaceAll("__Host-Http-idpauth", "idpauth");
    const args =
      proxy === "nginx"
        ? ["-e", "stderr", "-p", folder, "-c", nginxConfiguration(folder, block, port)]
        : ["run", "--config", caddyConfiguration(folder, block, port), "--adapter", "caddyfile"];
    const [command = "", ...rest] = [...(await endingWithUs("KILL")), program ?? "", ...args];
    const child = spawn(command, rest, {
      stdio: "ignore",
      env: { ...process.env, XDG_CONFIG_HOME: folder },
    });
    const ended = new Promise((resolve) => child.once("exit", resolve));
    running.push(async () => {
      child.kill("SIGTERM");
      await ended;
    });
    await eventually(() => fetch(`${origin}/idpauth/session`), 60_000);
    return { user: new CookieBrowser({ origin }), seen, cookies };
  }

  it.skipIf(program === undefined)(
    "a signed-out browser goes to the login and back to its page, and the application gets the user",
    async () => {
      const { user, seen } = await start();
      const blocked = await user.navigate("/reports?month=10&year=2026");
      expect(blocked.status).toBe(302);
      expect(blocked.location).toContain("/idpauth/login/?");
      expect(seen).toEqual([]);
      const landed = await user.follow("/reports?month=10&year=2026");
      expect(landed.text).toMatch(/^dashboard of (?!nobody).+/);
      expect(seen).toEqual(["GET /reports?month=10&year=2026"]);
      const forged = await user.get("/reports", { headers: { "x-user": "mallory" } });
      expect(forged.text).toBe(landed.text);
    },
  );

  it.skipIf(program === undefined)(
    "the application gets its own cookies, and not the value of the session cookie",
    async () => {
      const { user, cookies } = await start();
      await user.follow("/reports");
      await user.get("/reports");
      expect(cookies).toEqual(["idpauth=", "idpauth=; dashboard=1"]);
    },
  );

  it.skipIf(program === undefined)(
    "a signed-out script gets 401, and nobody reaches the check from outside",
    async () => {
      const { user, seen } = await start();
      expect((await user.get("/api/numbers", { headers: { "x-user": "mallory" } })).status).toBe(
        401,
      );
      expect((await user.get("/auth/check")).status).toBe(proxy === "nginx" ? 404 : 401);
      expect(seen).toEqual([]);
    },
  );
});
