import assert from "node:assert/strict";
import type { BrowserResponse } from "idpauth/testing";
import type { ApplicationRoute } from "../adapter-under-test.js";
import type { ApplicationStarter, StartedApplication } from "../application-starter.js";
import type { AdapterRequirement } from "./requirement.js";

const area = "guarded responses";
const GUARDED = "private, no-store";

/** The caching headers of guarded pages. */
export const guardedResponseRequirements: readonly AdapterRequirement[] = [
  {
    area,
    title:
      "a guarded response is private and is not stored; a response without a guard is the application's alone",
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      for (const method of ["GET", "HEAD", "POST"]) {
        const response = await browser.get("/reports", { method });
        assert.equal(response.status, 200, method);
        assert.equal(response.headers["cache-control"], GUARDED, method);
        assert.deepEqual(cookiesIn(response), ["cookie"], method);
      }
      const echo = await browser.get("/guarded-echo", { method: "POST", body: "streamed" });
      assert.deepEqual(
        [echo.text, echo.headers["cache-control"], cookiesIn(echo)],
        ["streamed", GUARDED, ["cookie"]],
      );
      const open = await browser.get("/public");
      assert.notEqual(open.headers["cache-control"], GUARDED);
      assert.deepEqual(cookiesIn(open), []);
    },
  },
  {
    area,
    title: "an application's own Cache-Control stays, and Vary names Cookie as well",
    async check(starter) {
      const own = "private, max-age=60";
      const { browser } = await startWith(starter, { "Cache-Control": own });
      const response = await browser.get("/own");
      assert.deepEqual(
        [response.status, response.headers["cache-control"], cookiesIn(response)],
        [200, own, ["cookie"]],
      );
    },
  },
  {
    area,
    title: "Vary is merged with the application's own, and names Cookie once",
    async check(starter) {
      for (const vary of [
        "Accept-Language",
        "Accept-Language, cookie",
        "Cookie",
        "Accept-Language, X-Cookie",
      ]) {
        const { browser } = await startWith(starter, { Vary: vary });
        const response = await browser.get("/own");
        const seen = `Vary: ${vary} came out as ${String(response.headers.vary)}`;
        assert.deepEqual(
          [response.headers["cache-control"], cookiesIn(response)],
          [GUARDED, ["cookie"]],
          seen,
        );
        for (const name of names(vary))
          assert.ok(names(response.headers.vary).includes(name), seen);
      }
      const { browser } = await startWith(starter, { Vary: "*" });
      assert.ok(names((await browser.get("/own")).headers.vary).includes("*"));
    },
  },
  {
    area,
    title: "the Vary values of earlier middleware stay, and Cookie is added",
    needs: "earlier headers",
    async check(starter) {
      const app = await starter.start({ earlier: [["Vary", "Accept-Language"]] });
      const browser = await app.signedIn();
      const response = await browser.get("/reports");
      const { "cache-control": caching, vary } = response.headers;
      assert.deepEqual(
        [caching, cookiesIn(response), names(vary).includes("accept-language")],
        [GUARDED, ["cookie"], true],
        vary,
      );
    },
  },
];

/** Starts an application with one guarded route that sets these headers, and signs a user in. */
async function startWith(starter: ApplicationStarter, headers: Readonly<Record<string, string>>) {
  const own: ApplicationRoute = {
    kind: "json",
    method: "GET",
    path: "/own",
    guard: { mount: 0 },
    headers,
    respond: () => ({ own: true }),
  };
  const app: StartedApplication = await starter.start({ routes: [own] });
  return { browser: await app.signedIn() };
}

function names(vary: string | undefined): string[] {
  return (vary ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "");
}

/** Returns every occurrence of Cookie in Vary. */
function cookiesIn({ headers }: BrowserResponse): string[] {
  return names(headers.vary).filter((name) => name === "cookie");
}
