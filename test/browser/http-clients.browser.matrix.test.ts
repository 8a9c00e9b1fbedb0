import { readFileSync } from "node:fs";
import path from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { installFramework } from "../../scripts/framework-install.mjs";
import { lockedVersion } from "../../scripts/locked-packages.mjs";
import { chromiumForTests, launchChromium } from "../support/chromium.js";
import { PATIENCE } from "./browser.js";
import {
  startHttpClientsApplication,
  type HttpClientsApplication,
} from "./http-clients-application.js";
import { LIBRARY_PACKAGES } from "./libraries-application.js";

// axios, TanStack Query and SWR, with the recipes of docs/how-to/http-clients.md.

const executablePath = await chromiumForTests();
const installed = await installFramework(LIBRARY_PACKAGES);
const PAGE = path.resolve(import.meta.dirname, "../../docs/how-to/http-clients.md");

const HOUR = 3_600_000;
const ADA = { sub: "ada", name: "Ada Lovelace" };
const GRACE = { sub: "grace", name: "Grace Hopper" };

it("docs/how-to/http-clients.md names the versions that these tests run", () => {
  const version = (name: string) => String(lockedVersion(LIBRARY_PACKAGES, name));
  expect(readFileSync(PAGE, "utf8").replaceAll(/\s+/g, " ")).toContain(
    `with axios ${version("axios")}, TanStack Query ${version("@tanstack/react-query")} and SWR ${version("swr")}.`,
  );
});

describe.skipIf(executablePath === undefined || !installed)(
  "axios, TanStack Query and SWR with the client's fetch",
  () => {
    let browser: Browser;
    let application: HttpClientsApplication;
    let context: BrowserContext;
    let tab: Page;
    let other: Page;

    beforeAll(async () => {
      [browser, application] = await Promise.all([
        launchChromium(executablePath!),
        startHttpClientsApplication(),
      ]);
    });
    afterAll(async () => {
      await browser.close();
      await application.stop();
    });
    beforeEach(async () => {
      application.provider.person = ADA;
      context = await browser.newContext();
      context.setDefaultTimeout(20_000);
      [tab, other] = [await context.newPage(), await context.newPage()];
      application.requests.length = 0;
    });
    afterEach(() => context.close());

    const url = (target: string) => `${application.origin}${target}`;
    /** In another tab, which tells this one. */
    const signIn = () => other.goto(url("/idpauth/login/")).then(() => other.goto(url("/")));
    const shown = async () => [await tab.textContent("#query"), await tab.textContent("#swr")];
    const shows = (text: string) => expect.poll(shown, PATIENCE).toEqual([text, text]);
    const requestsTo = (target: string) =>
      application.requests.filter((request) => request.path === target);
    const statusesOf = (target: string) => requestsTo(target).map(({ status }) => status);
    /** Starts a request of axios. Its end is in the page's variable `axiosResult`. */
    const callAxios = (call: string) =>
      tab.evaluate(
        `void api.${call}.then(({ data }) => data.for, (error) => error.cause?.name ?? error.message).then((result) => sessionStorage.setItem("axios", result))`,
      );
    const axiosResult = () => tab.evaluate(`sessionStorage.getItem("axios")`);

    async function openSignedIn(): Promise<void> {
      await other.goto(url("/idpauth/login/"));
      await tab.goto(url("/"));
      await shows("Ada Lovelace");
      application.requests.length = 0;
    }

    it("a request of a signed-out user waits, isn't repeated, and succeeds after the sign-in", async () => {
      await tab.goto(url("/"));
      await callAxios(`get("/api/axios")`);
      await expect.poll(() => application.requests.length, PATIENCE).toBe(3);
      await tab.waitForTimeout(6000); // SWR would revalidate
      await tab.evaluate(`dispatchEvent(new Event("focus"))`);
      await tab.evaluate(`document.dispatchEvent(new Event("visibilitychange"))`);
      await tab.waitForTimeout(1000);
      expect(["axios", "query", "swr"].map((name) => statusesOf(`/api/${name}`))).toEqual(
        Array(3).fill([401]),
      );
      expect(await shown()).toEqual(["nothing", "nothing"]);
      await signIn();
      await shows("Ada Lovelace");
      await expect.poll(axiosResult, PATIENCE).toBe("Ada Lovelace");
      expect(application.requests.every(({ mark }) => mark === "1")).toBe(true);
    });

    it.each([
      ["axios", "/api/axios", () => callAxios(`get("/api/axios")`)],
      ["TanStack Query", "/api/query", () => tab.evaluate("void queryClient.invalidateQueries()")],
      ["SWR", "/api/swr", () => tab.evaluate(`void mutate("/api/swr")`)],
    ] as const)("%s repeats a request after an outage", async (_library, target, request) => {
      await openSignedIn();
      const { provider } = application;
      provider.clock.advance(HOUR); // the ID token has expired
      provider.fault("token", { kind: "status", status: 503, times: 1 });
      await request();
      await expect.poll(() => statusesOf(target), PATIENCE).toEqual([503, 200]);
      await shows("Ada Lovelace");
    });

    it("axios repeats neither a POST nor a second 503", async () => {
      await openSignedIn();
      const { provider } = application;
      provider.clock.advance(HOUR);
      provider.fault("token", { kind: "status", status: 503, times: 3 });
      await callAxios(`post("/api/axios", {})`);
      await expect.poll(axiosResult, PATIENCE).toContain("503");
      expect(statusesOf("/api/axios")).toEqual([503]);
      await tab.evaluate("sessionStorage.clear()");
      await callAxios(`get("/api/axios")`);
      await expect.poll(axiosResult, PATIENCE).toContain("503");
      await tab.waitForTimeout(2000);
      expect(statusesOf("/api/axios")).toEqual([503, 503, 503]);
      provider.clearFaults();
    });

    it("a logout in another tab empties the caches, and a sign-in fills them again", async () => {
      await openSignedIn();
      await other.goto(url("/"));
      await other.evaluate("void auth.signOut()");
      await shows("nothing");
      expect(await tab.evaluate(`queryClient.getQueryData(["/api/query"]) ?? "nothing"`)).toBe(
        "nothing",
      );
      await tab.waitForTimeout(2000);
      expect(requestsTo("/api/query").length).toBeLessThan(5);
      expect(requestsTo("/api/swr").length).toBeLessThan(5);
      await signIn();
      await shows("Ada Lovelace");
    });

    it("a request isn't repeated for a different user, and the page shows that user's data", async () => {
      await openSignedIn();
      await tab.evaluate(`fetch("/idpauth/logout/?response=json").then(({ status }) => status)`);
      await callAxios(`post("/api/axios", {})`);
      await shows("nothing");
      application.provider.person = GRACE;
      await signIn();
      await expect.poll(axiosResult, PATIENCE).toBe("UserChangedError");
      await shows("Grace Hopper");
      expect(statusesOf("/api/axios")).toEqual([401]);
    });
  },
);
