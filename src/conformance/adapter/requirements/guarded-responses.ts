import assert from "node:assert/strict";
import type { BrowserResponse } from "../../../testing/browser/cookie-browser.js";
import type { ApplicationRoute } from "../adapter-under-test.js";
import type { AdapterStage, StartedApplication } from "../stage.js";
import type { AdapterRequirement } from "./requirement.js";

const area = "guarded responses";
const GUARDED = "private, no-store";

/** What caches are told of the pages that the guard lets a user see. */
export const guardedResponseRequirements: readonly AdapterRequirement[] = [
  {
    area,
    promise: "a guarded response is private and is not stored; a response without a guard is the application's alone",
    async check(stage) {
      const app = await stage.start();
      const browser = await app.signedIn();
      for (const method of ["GET", "HEAD", "POST"]) {
        const answer = await browser.get("/reports", { method });
        assert.equal(answer.status, 200, method);
        assert.equal(answer.headers["cache-control"], GUARDED, method);
        assert.deepEqual(cookiesIn(answer), ["cookie"], method);
      }
      const echo = await browser.get("/guarded-echo", { method: "POST", body: "streamed" });
      assert.deepEqual([echo.text, echo.headers["cache-control"], cookiesIn(echo)], ["streamed", GUARDED, ["cookie"]]);
      const open = await browser.get("/public");
      assert.notEqual(open.headers["cache-control"], GUARDED);
      assert.deepEqual(cookiesIn(open), []);
    },
  },
  {
    area,
    promise: "an application's own Cache-Control stays, and Vary names Cookie beside it",
    async check(stage) {
      const own = "private, max-age=60";
      const { browser } = await startWith(stage, { "Cache-Control": own });
      const answer = await browser.get("/own");
      assert.deepEqual([answer.status, answer.headers["cache-control"], cookiesIn(answer)], [200, own, ["cookie"]]);
    },
  },
  {
    area,
    promise: "Vary is merged with the application's own, and names Cookie once",
    async check(stage) {
      for (const vary of ["Accept-Language", "Accept-Language, cookie", "Cookie", "Accept-Language, X-Cookie"]) {
        const { browser } = await startWith(stage, { Vary: vary });
        const answer = await browser.get("/own");
        const seen = `Vary: ${vary} came out as ${String(answer.headers.vary)}`;
        assert.deepEqual([answer.headers["cache-control"], cookiesIn(answer)], [GUARDED, ["cookie"]], seen);
        for (const name of names(vary)) assert.ok(names(answer.headers.vary).includes(name), seen);
      }
      const { browser } = await startWith(stage, { Vary: "*" });
      assert.ok(names((await browser.get("/own")).headers.vary).includes("*"));
    },
  },
  {
    area,
    promise: "what earlier middleware put into Vary stays beside Cookie",
    needs: "earlier headers",
    async check(stage) {
      const app = await stage.start({ earlier: [["Vary", "Accept-Language"]] });
      const browser = await app.signedIn();
      const answer = await browser.get("/reports");
      const { "cache-control": caching, vary } = answer.headers;
      assert.deepEqual([caching, cookiesIn(answer), names(vary).includes("accept-language")], [GUARDED, ["cookie"], true], vary);
    },
  },
];

/** An application with one guarded route that sets these headers, and a user who is signed in. */
async function startWith(stage: AdapterStage, headers: Readonly<Record<string, string>>) {
  const own: ApplicationRoute = { kind: "json", method: "GET", path: "/own", guard: { mount: 0 }, headers, answer: () => ({ own: true }) };
  const app: StartedApplication = await stage.start({ routes: [own] });
  return { browser: await app.signedIn() };
}

function names(vary: string | undefined): string[] {
  return (vary ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "");
}

/** Each time that Vary names Cookie. */
function cookiesIn({ headers }: BrowserResponse): string[] {
  return names(headers.vary).filter((name) => name === "cookie");
}
