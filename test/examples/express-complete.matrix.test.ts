import { execFile } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  providersEnv,
  signIn,
  startTestApi,
  startTestProvider,
  type TestApi,
  type TestProvider,
} from "../../src/testing/index.js";
import { TestUser } from "../browser/test-user.js";
import { chromiumForTests, launchChromium } from "../support/chromium.js";
import { eventually } from "../support/eventually.js";
import { redisForTests, startRedis, type RedisServer } from "../support/redis-server.js";
import { Balancer } from "./balancer.js";
import { ExampleProcess, installExample, manifestOf, PackedPackage } from "./example-process.js";

// examples/express-complete outside the project, over the packed package: its own tests, and two
// processes behind a load balancer, of which one is killed.

const EXAMPLE = path.resolve(import.meta.dirname, "../../examples/express-complete");
const executablePath = await chromiumForTests();
const hasRedis = (await redisForTests()) !== undefined;
const COMPANY = { provider: "company" };
const ADA = { email: "ada@example.com", name: "Ada", groups: ["staff"] };

describe.skipIf(!hasRedis)("examples/express-complete", () => {
  let packed: PackedPackage;
  let folder: string;
  let redis: RedisServer;
  let company: TestProvider;
  let agency: TestProvider;
  let orders: TestApi;
  let balancer: Balancer;
  /** The processes by their origins. */
  const processes = new Map<string, ExampleProcess>();

  beforeAll(async () => {
    packed = await PackedPackage.pack();
    folder = installExample(EXAMPLE, packed);
    redis = await startRedis();
    [company, agency] = [await startTestProvider({ person: ADA }), await startTestProvider()];
    orders = await startTestApi(company);
    balancer = await Balancer.start();
  });
  afterEach(async () => {
    await Promise.all([...processes.values()].map((each) => each.end()));
    processes.clear();
  });
  afterAll(async () => {
    await balancer.stop();
    await Promise.all([orders.stop(), company.stop(), agency.stop(), redis.stop()]);
    rmSync(folder, { recursive: true, force: true });
    packed.remove();
  });

  /** Two processes, which share nothing but Redis and their settings. */
  async function startBoth(): Promise<void> {
    const env = {
      ...(providersEnv({ company, agency }) as Record<string, string>),
      BASE_URL: balancer.origin,
      REDIS_URL: redis.url,
      ORDERS_URL: orders.url,
      METRICS_PORT: "0",
    };
    const both = [new ExampleProcess(folder, env), new ExampleProcess(folder, env)];
    for (const each of both) processes.set(await each.origin(), each);
    balancer.servers = [...processes.keys()];
  }

  it.skipIf(executablePath === undefined)(
    "passes its own tests, one of them in Chromium",
    async () => {
      const { stdout } = await promisify(execFile)(
        "sh",
        ["-c", manifestOf(folder).scripts?.["test"] ?? "false"],
        {
          cwd: folder,
          env: {
            PATH: process.env["PATH"],
            REDIS_URL: redis.url,
            CHROMIUM_PATH: executablePath,
          },
        },
      );
      expect(stdout).toMatch(/pass 13$/m);
    },
  );

  it("a user stays signed in when one of two processes is killed, over expired ID tokens too", async () => {
    company.settings.idTokenSeconds = 1;
    await startBoth();
    const user = await signIn(balancer.origin, ADA, COMPANY);
    const statuses = async () => {
      const all: number[] = [];
      for (let turn = 0; turn < 6; turn += 1) all.push((await user.get("/open-orders")).status);
      return all;
    };
    expect(await statuses()).toEqual(Array(6).fill(200));
    const serving = balancer.passed.filter(({ path: target }) => target === "/open-orders");
    expect(new Set(serving.map(({ server }) => server))).toEqual(new Set(processes.keys()));

    await processes.get(serving.at(-1)!.server)!.end();
    const refreshes = () => company.requestsTo("token", { grant_type: "refresh_token" }).length;
    const before = refreshes();
    await eventually(async () => {
      expect((await user.get("/desk")).status).toBe(200);
      expect(refreshes()).toBeGreaterThan(before);
    });
    expect(await statuses()).toEqual(Array(6).fill(200));
    expect(company.reuses).toBe(0);
    company.settings.idTokenSeconds = 3600;
  });

  it.skipIf(executablePath === undefined)(
    "in Chromium, the stream of a killed process opens again at the other, and gets its notices",
    async () => {
      await startBoth();
      const browser = await launchChromium(executablePath!);
      try {
        const user = await TestUser.arrive(browser, balancer.origin);
        const tab = await user.askFor("/desk");
        await tab.getByRole("link", { name: "company" }).click();
        await tab.locator("#notices[data-opened='1']").waitFor({ state: "attached" });
        const { server } = balancer.passed.findLast((each) => each.path === "/stream")!;

        await processes.get(server)!.end();
        await tab.locator("#notices[data-opened='2']").waitFor({ state: "attached" });
        await publish(await user.askFor("/desk"), "Closing at five");
        await tab.locator("#notices").getByText("Closing at five").waitFor();
        expect(await tab.getByText("Hello Ada.").isVisible()).toBe(true);
      } finally {
        await browser.close();
      }
    },
  );
});

async function publish(tab: Page, notice: string): Promise<void> {
  await tab.getByLabel("Publish notice").fill(notice);
  await tab.getByRole("button", { name: "Publish notice" }).click();
}

/** A line with these words is about the sign-in. */
const SIGN_IN =
  /idpauth|IdpAuth|\bauth\b|options,|store:|session|log: telemetry|claims|forbidden|Ask your|User|keyOf|hSet|signIns|Sign out/;
/**
 * Lines that an application without sign-in would have too, some with another library's name: what
 * reaches the orders API, the stream, the end of the process, and how its parts are put together.
 */
const STAYS =
  /orders|proxy|eventStream|close\(|deskRoutes|createApp|\/payroll|observeRequests|return \{/;
/** Of `idpAuth`, `forbidden` and `saveUser`. */
const CLOSING_BRACKETS = 3;

it("is private, and depends on the versions that the project is tested with", () => {
  const { version, dependencies, devDependencies } = manifestOf(path.resolve(EXAMPLE, "../.."));
  const example = manifestOf(EXAMPLE);
  expect(example.private).toBe(true);
  expect({ ...devDependencies, ...dependencies, idpauth: `^${version}` }).toMatchObject({
    ...example.dependencies,
    ...example.devDependencies,
  });
});

it("at most 30 of its lines would vanish if it had no sign-in", () => {
  const lines = readdirSync(EXAMPLE, { recursive: true, encoding: "utf8" })
    .filter((file) => /^(?!test\/|node_modules\/|orders-api).*js$/.test(file))
    .flatMap((file) => readFileSync(path.join(EXAMPLE, file), "utf8").split("\n"))
    .filter((line) => !/^\s*(?:\/\/|\/?\*|import |$)/.test(line));
  const vanishing = lines.filter((line) => SIGN_IN.test(line) && !STAYS.test(line));
  expect(vanishing.length + CLOSING_BRACKETS, vanishing.join("\n")).toBeLessThanOrEqual(30);
});
