import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import http from "node:http";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packPackage } from "../../scripts/pack-package.mjs";
import { pageWithCommands } from "../../scripts/install-commands.mjs";
import { CookieBrowser, startTestProvider, type TestProvider } from "../../src/testing/index.js";
import { buildPackage } from "../support/build.js";
import { eventually } from "../support/eventually.js";
import { freePort } from "../support/free-port.js";
import { endingWithUs } from "../support/postgres-server.js";
import { redisForTests, startRedis, type RedisServer } from "../support/redis-server.js";
import { deployment, FILES, installed, read, ROOT } from "./files.js";
import { buildImage, npmEnvironment, type Image } from "./image-build.js";

// The Dockerfile of docs/deploy/containers.md, carried out without an engine, with the packed
// package, for each of the page's applications. Its command runs as the image's user, with Redis and
// a provider.

const hasRedis = (await redisForTests()) !== undefined;
const [container] = deployment().template.spec.containers;
// The project's package isn't on npm, whatever the page says.
const { version } = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8")) as {
  version: string;
};
const dockerfile = pageWithCommands(
  read("Dockerfile"),
  "docs/deploy/containers.md",
  `idpauth-${version}.tgz`,
);
const ALIVE_AND_READY = { liveness: 200, readiness: 200 };

describe.skipIf(!installed || !hasRedis).each([
  ["express", "server.mjs"],
  ["fastify", "server-fastify.mjs"],
] as const)("the image with the application for %s", (framework, server) => {
  let folder = "";
  let image: Image;
  let provider: TestProvider;
  let redis: RedisServer;
  const processes: ChildProcess[] = [];
  const stops: (() => unknown)[] = [];

  beforeAll(async () => {
    await buildPackage();
    folder = mkdtempSync(path.join(tmpdir(), "idpauth-image-"));
    stops.push(() => rmSync(folder, { recursive: true, force: true }));
    chmodSync(folder, 0o755); // the image's user reads it
    const context = createContext(folder, framework, server);
    provider = await startTestProvider();
    stops.push(() => provider.stop());
    redis = await startRedis();
    stops.push(() => redis.stop());
    image = await buildImage({ dockerfile, context, folder });
  });
  afterAll(async () => {
    for (const child of processes) child.kill("SIGKILL");
    for (const stop of stops.reverse()) await stop();
  });

  it("has the application and its packages, without those of development and without secrets", () => {
    const app = path.join(image.root, image.workdir);
    expect(readdirSync(app).sort()).toEqual(["node_modules", "package.json", "server.mjs"]);
    const packages = readdirSync(path.join(app, "node_modules"));
    expect(packages).toEqual(expect.arrayContaining([framework, "idpauth", "redis"]));
    expect(packages).not.toContain("picocolors");
    expect(existsSync(path.join(app, "node_modules/idpauth/dist/index.js"))).toBe(true);
  });

  it("starts as its user, answers the probes, signs a user in, and ends in time after SIGTERM", async () => {
    expect(image.uid).toBe(deployment().template.spec.securityContext.runAsUser);
    const before = filesIn(image.root);
    const { child, origin, stderr } = await start();
    await eventually(async () => {
      if (child.exitCode === null) expect(await probes(origin)).toEqual(ALIVE_AND_READY);
    }, 30_000);
    expect(child.exitCode, stderr()).toBe(null);

    const browser = new CookieBrowser({ origin });
    expect((await browser.follow("/")).text).toBe("Hello");
    const began = Date.now();
    child.kill("SIGTERM");
    expect(await once(child, "exit"), stderr()).toEqual([0, null]);
    expect(Date.now() - began).toBeLessThan(graceMilliseconds());
    // As with a read-only root file system.
    expect(filesIn(image.root)).toEqual(before);
  });

  it("lets a login finish that is under way at SIGTERM, and ends in time", async () => {
    const { child, origin } = await start();
    await eventually(async () => expect(await probes(origin)).toEqual(ALIVE_AND_READY), 30_000);
    const browser = new CookieBrowser({ origin });
    const login = await browser.navigate("/idpauth/login/");
    const atProvider = await browser.navigate(login.location ?? "");
    const token = provider.hold("token");
    const agent = new http.Agent({ keepAlive: true });
    const cookie = browser.cookies.all().map(({ name, value }) => `${name}=${value}`);
    const headers = { cookie: cookie.join("; ") };
    const callback = once(http.get(atProvider.location ?? "", { agent, headers }), "response");
    await token.arrived;
    child.kill("SIGTERM");
    await expect.poll(() => fetch(origin).catch(() => "closed")).toBe("closed");
    const began = Date.now();
    token.release();
    const [response] = (await callback) as [http.IncomingMessage];
    response.resume();
    expect([response.statusCode, response.headers.connection]).toEqual([302, "close"]);
    expect(await once(child, "exit")).toEqual([0, null]);
    expect(Date.now() - began).toBeLessThan(graceMilliseconds() / 2);
    agent.destroy();
  });

  it("doesn't start without its secrets, and says which one is missing", async () => {
    const { child, stderr } = await start({ SECRET_KEY: undefined });
    const [code] = (await once(child, "exit")) as [number];
    expect(code).toBe(1);
    expect(stderr()).toContain("SECRET_KEY");
  });

  it("starts before Redis, as Compose may do, is alive and ends after SIGTERM, and is ready once Redis is there", async () => {
    const port = String(await freePort());
    const settings = { REDIS_URL: `redis://127.0.0.1:${port}` };
    const [ending, waiting] = [await start(settings), await start(settings)];
    for (const { stderr, origin } of [ending, waiting]) {
      await expect.poll(stderr, { timeout: 30_000 }).toContain("ECONNREFUSED");
      expect(await probes(origin)).toEqual({ liveness: 200, readiness: 503 });
    }
    ending.child.kill("SIGTERM");
    expect(await once(ending.child, "exit"), ending.stderr()).toEqual([0, null]);
    const late = await startRedis({ args: ["--port", port] });
    try {
      const { child, origin } = waiting;
      await eventually(async () => expect(await probes(origin)).toEqual(ALIVE_AND_READY), 30_000);
      child.kill("SIGTERM");
      expect(await once(child, "exit")).toEqual([0, null]);
    } finally {
      await late.stop();
    }
  });

  /** Runs the image's command, as a container does: with its user, environment and folder. */
  async function start(changed: Readonly<Record<string, string | undefined>> = {}) {
    const [program = "", ...args] = image.command;
    const port = await freePort();
    const origin = `http://localhost:${port}`;
    const [command = "", ...rest] = [
      ...(await endingWithUs("KILL")),
      path.join(image.root, "usr/local/bin", program),
      ...args,
    ];
    const child = spawn(command, rest, {
      cwd: path.join(image.root, image.workdir),
      env: {
        ...image.env,
        ...provider.env,
        ...{ BASE_URL: origin, REDIS_URL: redis.url, PORT: String(port) },
        // The image's user can't write there.
        ...{ HOME: image.root, TMPDIR: image.root },
        ...changed,
      },
      stdio: ["ignore", "ignore", "pipe"],
      ...(process.getuid?.() === 0 && image.uid && { uid: image.uid, gid: image.uid }),
    });
    processes.push(child);
    let text = "";
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    return { child, origin, stderr: () => text };
  }
});

/** Creates the folder of an application, as a user of the package has it. */
function createContext(folder: string, framework: "express" | "fastify", server: string): string {
  const context = path.join(folder, "context/app");
  mkdirSync(context, { recursive: true });
  const { devDependencies } = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8")) as {
    devDependencies: Record<"express" | "fastify" | "redis", string>;
  };
  const manifest = {
    name: "app",
    private: true,
    dependencies: {
      [framework]: devDependencies[framework],
      idpauth: `file:${path.basename(packPackage(context).tarball)}`,
      redis: devDependencies.redis,
    },
    devDependencies: { picocolors: "^1.1.1" },
  };
  writeFileSync(path.join(context, "package.json"), JSON.stringify(manifest));
  copyFileSync(path.join(FILES, server), path.join(context, "server.mjs"));
  copyFileSync(path.join(FILES, ".dockerignore"), path.join(context, ".dockerignore"));
  writeFileSync(path.join(context, ".env"), "SECRET_KEY=must-stay-outside\n");
  const flags = ["--package-lock-only", "--prefer-offline", "--no-audit", "--no-fund"];
  execFileSync("npm", ["install", ...flags], { cwd: context, env: npmEnvironment() });
  return context;
}

/** Sends both probes, and returns their statuses. */
async function probes(origin: string): Promise<Record<"liveness" | "readiness", number>> {
  const [liveness, readiness] = await Promise.all(
    [container.livenessProbe, container.readinessProbe].map(({ httpGet }) =>
      fetch(`${origin}${httpGet.path}`),
    ),
  );
  return { liveness: liveness?.status ?? 0, readiness: readiness?.status ?? 0 };
}

/** Lists what a program could have changed. */
function filesIn(root: string): string[] {
  return readdirSync(root, { recursive: true, encoding: "utf8" }).sort();
}

/** Returns how long Kubernetes waits between SIGTERM and SIGKILL. */
function graceMilliseconds(): number {
  const { terminationGracePeriodSeconds } = deployment().template.spec;
  const [, seconds = "0"] = container.lifecycle.preStop.exec.command;
  return (terminationGracePeriodSeconds - Number(seconds)) * 1000;
}
