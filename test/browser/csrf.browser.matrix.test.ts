// What Chromium sends for the requests that pages can make, and what auth.csrf makes of it.
// `localhost` and `127.0.0.1` are two sites.
import type { RequestListener } from "node:http";
import express from "express";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { idpAuth } from "../../src/adapters/express/express.js";
import { listen } from "../adapters/applications/listen.js";
import { chromiumForTests, launchChromium } from "../support/chromium.js";
import { eventually } from "../support/eventually.js";
import { element, POSTS, sandboxed, send, type Attempt } from "./cross-site-requests.js";
import { UNREACHED } from "../support/options-for.js";

const executablePath = await chromiumForTests();

/** A request as it arrived. */
interface Arrived {
  readonly method: string;
  readonly type: string | undefined;
  readonly site: string | undefined;
  readonly origin: string | undefined;
  readonly hasCookie: boolean;
  /** Whether auth.csrf let the route run. */
  ran: boolean;
}

describe.skipIf(executablePath === undefined)(
  "[CSRF-2] what Chromium sends to a route behind auth.csrf",
  () => {
    let browser: Browser;
    let page: Page;
    const arrived: Arrived[] = [];
    const servers: { stop(): Promise<void> }[] = [];
    /** The origins of pages: the application's own, its site on another port, and another site. */
    const origins = { own: "", sameSite: "", crossSite: "" };

    async function serve(listener: RequestListener): Promise<string> {
      const server = await listen(listener);
      servers.push(server);
      return String(server.port);
    }

    beforeAll(async () => {
      browser = await launchChromium(executablePath!);
      const auth = idpAuth({ ...UNREACHED, log: false });
      const app = express();
      app.use("/items", (request, response, next) => {
        const { "content-type": type, origin, cookie } = request.headers;
        const seen = {
          method: request.method,
          type: type?.split(";", 1)[0],
          site: request.get("sec-fetch-site"),
          origin,
          hasCookie: cookie !== undefined,
          ran: false,
        };
        response.on("finish", () => arrived.push(seen));
        response.locals["seen"] = seen;
        next();
      });
      app.use(auth.csrf);
      app.all("/items", (_request, response) => {
        (response.locals as { seen: Arrived }).seen.ran = true;
        response.send("done");
      });
      app.get("/", (_request, response) =>
        response.cookie("known", "1", { httpOnly: true, sameSite: "lax" }).send("<!doctype html>"),
      );
      const own = await serve(app);
      const other = await serve((_request, response) =>
        response.setHeader("Content-Type", "text/html").end("<!doctype html>"),
      );
      Object.assign(origins, {
        own: `http://localhost:${own}`,
        sameSite: `http://localhost:${other}`,
        crossSite: `http://127.0.0.1:${other}`,
      });
    }, 120_000);
    afterAll(async () => {
      await browser.close();
      for (const server of servers) await server.stop();
    });
    beforeEach(async () => {
      page = await browser.newPage();
      // Signed in, so to say: the browser has a cookie of the application.
      await page.goto(`${origins.own}/`);
      arrived.length = 0;
    });
    afterEach(() => page.close());

    /**
     * Makes the attempt from a page of that origin, and returns the request that arrived for it.
     */
    async function attempted(attempt: Attempt, from: string): Promise<Arrived> {
      await page.goto(`${from}/`);
      await page.evaluate(`(async () => { ${attempt(`${origins.own}/items`)} })()`);
      return eventually(async () => {
        const [first] = arrived;
        if (first === undefined) throw new Error("no request has arrived");
        return first;
      });
    }

    it.each(POSTS)(
      "%s of the application's own page runs the route",
      async (_name, attempt, type) => {
        const { own } = origins;
        const seen = await attempted(attempt, own);
        expect(seen).toEqual({
          method: "POST",
          type,
          site: "same-origin",
          origin: own,
          hasCookie: true,
          ran: true,
        });
      },
    );

    it.each(POSTS)(
      "%s of a page on another port of the same site is refused, although the cookie came with it",
      async (_name, attempt, type) => {
        const { sameSite } = origins;
        expect(await attempted(attempt, sameSite)).toEqual({
          method: "POST",
          type,
          site: "same-site",
          origin: sameSite,
          hasCookie: true,
          ran: false,
        });
      },
    );

    it.each(POSTS)("%s of a page of another site is refused", async (_name, attempt, type) => {
      const { crossSite } = origins;
      expect(await attempted(attempt, crossSite)).toMatchObject({
        method: "POST",
        type,
        site: "cross-site",
        origin: crossSite,
        ran: false,
      });
    });

    it.each(["own", "sameSite", "crossSite"] as const)(
      "a form in a sandboxed frame (%s) is refused: its page has no origin",
      async (from) => {
        expect(await attempted(sandboxed, origins[from])).toMatchObject({
          method: "POST",
          site: "cross-site",
          origin: "null",
          ran: false,
        });
      },
    );

    it("fetch of JSON from the application's own page runs the route", async () => {
      const attempt = send({
        headers: { "Content-Type": "application/json", "X-Idpauth": "1" },
        body: "{}",
      });
      expect(await attempted(attempt, origins.own)).toMatchObject({
        method: "POST",
        type: "application/json",
        ran: true,
      });
    });

    it.each(["sameSite", "crossSite"] as const)(
      "fetch of JSON or with X-Idpauth from another origin (%s) sends only a preflight",
      async (from) => {
        for (const headers of [{ "Content-Type": "application/json" }, { "X-Idpauth": "1" }]) {
          arrived.length = 0;
          await attempted(send({ headers, body: "{}" }), origins[from]);
          expect(arrived.map(({ method }) => method)).toEqual(["OPTIONS"]);
        }
      },
    );

    it.each(["img", "script"] as const)(
      "GET by <%s> of another site runs the route: a safe method must change nothing",
      async (tag) => {
        expect(await attempted(element(tag), origins.crossSite)).toMatchObject({
          method: "GET",
          site: "cross-site",
          ran: true,
        });
      },
    );
  },
);
