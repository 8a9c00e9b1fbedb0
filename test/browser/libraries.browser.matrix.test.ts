import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { installFramework } from "../../scripts/framework-install.mjs";
import { chromiumForTests, launchChromium } from "../support/chromium.js";
import { PATIENCE } from "./browser.js";
import {
  LIBRARIES,
  LIBRARY_PACKAGES,
  pageOf,
  startLibrariesApplication,
  type LibrariesApplication,
  type Library,
} from "./libraries-application.js";

// Libraries that fetch what a link leads to, before or instead of the browser's navigation, and
// everything else that requests a link before the user clicks it.

const executablePath = await chromiumForTests();
const installed = await installFramework(LIBRARY_PACKAGES);

const LOGOUT = "/idpauth/logout/";
const QUICKLINK = '<script src="/scripts/quicklink/dist/quicklink.umd.js"></script>';
const LINKS = '<a href="/idpauth/logout/">Sign out</a> <a href="/idpauth/login/">Sign in</a>';

const quicklink = (options: string) =>
  `${LINKS}${QUICKLINK}<script>quicklink.listen(${options})</script>`;
const speculation = (action: string) =>
  `${LINKS}<script type="speculationrules">{"${action}":[{"urls":["/idpauth/logout/","/idpauth/login/"],"eagerness":"immediate"}]}</script>`;

/** What a page contains, and whether its requests say over plain http, too, what they are for. */
const ELEMENTS: readonly (readonly [name: string, body: string, says: boolean])[] = [
  ["quicklink", quicklink("{}"), true],
  ["quicklink with fetch", quicklink("{ priority: true }"), false],
  ["quicklink that prerenders", quicklink("{ prerender: true }"), true],
  ["Speculation Rules: prefetch", speculation("prefetch"), true],
  ["Speculation Rules: prerender", speculation("prerender"), true],
  [
    "link rel=prefetch",
    '<link rel="prefetch" href="/idpauth/logout/"><link rel="prefetch" href="/idpauth/login/">',
    true,
  ],
  ["an image", `<img src="${LOGOUT}?response=json" alt="">`, false],
  ["a script", `<script src="${LOGOUT}?response=json"></script>`, false],
  ["a style sheet", `<link rel="stylesheet" href="${LOGOUT}?response=json">`, false],
  ["a frame", `<iframe src="${LOGOUT}"></iframe>`, false],
  ["an object", `<object data="${LOGOUT}"></object>`, false],
];

/** Chromium sends Fetch Metadata to https and loopback addresses only. */
const TRANSPORTS = [
  ["on a loopback address", "127.0.0.1"],
  ["over plain http, without Fetch Metadata", "app.example"],
] as const;

describe.skipIf(executablePath === undefined || !installed).each(TRANSPORTS)(
  "links to login and logout %s",
  (_name, hostname) => {
    const isMetadataSent = hostname === "127.0.0.1";
    let browser: Browser;
    let application: LibrariesApplication;
    let context: BrowserContext;
    let tab: Page;

    beforeAll(async () => {
      [browser, application] = await Promise.all([
        launchChromium(executablePath!, {
          args: ["--host-resolver-rules=MAP app.example 127.0.0.1"],
        }),
        startLibrariesApplication(),
      ]);
    }, 240_000);
    afterAll(async () => {
      await browser.close();
      await application.stop();
    });
    beforeEach(async () => {
      context = await browser.newContext();
      context.setDefaultTimeout(20_000);
      tab = await context.newPage();
      application.arrived.length = 0;
    });
    afterEach(() => context.close());

    const url = (target: string) => `http://${hostname}:${String(application.port)}${target}`;
    const asked = (endpoint: "authorize" | "endSession") =>
      application.provider.requestsTo(endpoint).length;
    const name = () => tab.locator("h1").first().innerText();
    const endpoints = () => application.arrived.map(({ endpoint }) => endpoint);

    async function signIn(): Promise<void> {
      await tab.goto(url("/idpauth/login/"));
      await tab.waitForURL(url("/idpauth/"));
      application.arrived.length = 0;
    }
    /** Read in another tab, because no page of idpauth lets a script ask. */
    const isSignedIn = async () => {
      const observer = await context.newPage();
      await observer.goto(url("/page"));
      const shown = await observer.locator("h1").innerText();
      await observer.close();
      return shown === "Ada Lovelace";
    };
    /** The preload extension of htmx 2 doesn't say what it is. */
    const at = (library: Library) =>
      `${pageOf(library)}${isMetadataSent || library !== "htmx 2" ? "" : "&preload=off"}`;
    async function open(library: Library): Promise<void> {
      await tab.goto(url(at(library)), { waitUntil: "load" });
    }
    /** Rests on the link until the library has fetched it, or would have. */
    async function rest(link: string): Promise<void> {
      await tab.hover(link);
      await tab.waitForTimeout(1000);
    }

    describe.each(LIBRARIES)("%s", (library) => {
      it("fetches neither when the pointer rests on its link, and a click has its effect", async () => {
        await signIn();
        await open(library);
        const [logins, logouts] = [asked("authorize"), asked("endSession")];
        await rest("#out");
        await rest("#in");
        await tab.mouse.move(0, 0);
        expect(await isSignedIn()).toBe(true);
        expect([asked("authorize"), asked("endSession")]).toEqual([logins, logouts]);

        await rest("#out");
        await tab.click("#out");
        await tab.waitForURL(url("/idpauth/"));
        expect(await isSignedIn()).toBe(false);
        expect(asked("endSession")).toBe(logouts + 1);
      });

      it("a click on the link to the login signs in, by one login", async () => {
        await open(library);
        const logins = asked("authorize");
        await rest("#in");
        await tab.click("#in");
        await tab.waitForURL(url("/idpauth/"));
        expect(await isSignedIn()).toBe(true);
        expect(asked("authorize")).toBe(logins + 1);
      });

      it("a click on a link to a guarded page signs in and arrives there, by one login", async () => {
        await open(library);
        const logins = asked("authorize");
        await tab.click("#guarded");
        await tab.waitForURL(url("/guarded?a=b"));
        await expect.poll(name, PATIENCE).toBe("guarded");
        expect(await isSignedIn()).toBe(true);
        expect(asked("authorize")).toBe(logins + 1);
      });

      it.each(["#load", "#send"])(
        "a request for a part of the page (%s) after the session's end signs in and returns to the page",
        async (control) => {
          await open(library);
          expect(await name()).toBe("nobody");
          const logins = asked("authorize");
          await tab.click(control);
          // Unpoly's link leads to a page of its own, of which it shows a part.
          const isOwnPage = library === "Unpoly 3" && control === "#load";
          await expect.poll(name, PATIENCE).toBe(isOwnPage ? "part" : "Ada Lovelace");
          // Its form for the navigation adds a question mark.
          expect(tab.url()).toBe(url(isOwnPage ? "/part?" : at(library)));
          expect(asked("authorize")).toBe(logins + 1);
          await open(library);
          await tab.click("#load");
          await expect
            .poll(() => tab.locator("#part").first().innerText(), PATIENCE)
            .toContain("Hello Ada Lovelace");
        },
      );
    });

    it("htmx 4 doesn't show a failure in the page, by its setting", async () => {
      await open("htmx 4");
      await tab.evaluate("document.querySelector('#part').textContent = 'as before'");
      const response = tab.waitForResponse(url("/broken"));
      await tab.click("#broken");
      await (await response).finished();
      await tab.waitForTimeout(500);
      expect(await tab.innerText("#part")).toBe("as before");
    });

    it.each(ELEMENTS.filter(([, , says]) => says || isMetadataSent))(
      "%s has no effect",
      async (_element, body) => {
        await signIn();
        const logins = asked("authorize");
        await tab.goto(url(`/page?body=${encodeURIComponent(body)}`));
        await tab.waitForTimeout(3000);
        // Over plain http, Chromium doesn't follow Speculation Rules.
        if (isMetadataSent) expect(endpoints()).toContain("logout");
        expect(await isSignedIn()).toBe(true);
        expect(asked("authorize")).toBe(logins);
        expect(application.arrived.filter(({ status }) => status !== 503)).toEqual([]);
      },
    );
  },
);
