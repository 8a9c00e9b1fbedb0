import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readSections } from "../../site/.vitepress/sections.data.mjs";
import { isApart, linksOf } from "../../site/.vitepress/sidebar.mjs";
import { buildPackage } from "../support/build.js";
import { chromiumForTests, launchChromium } from "../support/chromium.js";
import { searchIndexOf } from "./search-index.js";
import { QUERIES } from "./search-queries.js";
import { serveFolder } from "./static-server.js";

// VitePress fails the build for a dead link. The tests read what it has built, with the policy that
// the site has.

const ROOT = path.resolve(import.meta.dirname, "../..");
const DIST = path.join(ROOT, "site/dist");
const executablePath = await chromiumForTests();

/** One page of each kind. */
const KINDS = [
  "/",
  "/start/",
  "/404.html",
  "/start/express.html",
  "/how-to/authorization.html",
  "/how-to/sessions.html",
  "/reference/settings.html",
  "/api/koa.html",
  "/explanation/guarantees.html",
  "/about/evidence.html",
];

/** The beginning of each table, cell and block of code that is wider than what the page shows of it. */
const CUT = `[...document.querySelectorAll(".vp-doc table, .vp-doc td, .vp-doc th, .vp-doc pre")]
  // A phone shows the names of the columns in the cells.
  .filter((one) => one.closest("thead")?.clientWidth !== 1)
  .filter((one) => one.scrollWidth > one.clientWidth + 1
    || one.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
  .map((one) => one.tagName + " " + one.textContent.trim().slice(0, 60))`;

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly failureSummary: string }[];
  }[];
}

describe.skipIf(executablePath === undefined)("the documentation's site", () => {
  let browser: Browser;
  let server: Awaited<ReturnType<typeof serveFolder>>;
  let axe: string;

  beforeAll(async () => {
    // The reference names what the entries export.
    await buildPackage();
    await promisify(execFile)(process.execPath, ["scripts/site.mjs", "--build"], {
      cwd: ROOT,
      maxBuffer: 64 * 1024 * 1024,
    });
    axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
    server = await serveFolder(DIST);
    browser = await launchChromium(executablePath ?? "");
  }, 600_000);

  afterAll(async () => {
    await browser.close();
    server.close();
  });

  /**
   * Opens a page, and collects what the browser refuses and what it requests from other servers.
   */
  async function open(
    address: string,
    options: Parameters<Browser["newPage"]>[0] = {},
  ): Promise<{ tab: Page; complaints: string[] }> {
    // The tests read the page with scripts of their own; the page's policy still applies to the
    // page's scripts and requests.
    const tab = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
    const complaints: string[] = [];
    tab.on("console", (message) => {
      if (message.type() === "error") complaints.push(message.text());
    });
    tab.on("pageerror", (error) => complaints.push(error.message));
    tab.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(`${server.origin}/`) && !url.startsWith("data:"))
        complaints.push(`request to ${url}`);
    });
    await tab.goto(`${server.origin}${address}`, { waitUntil: "networkidle" });
    return { tab, complaints };
  }

  /** What axe finds on the page, and why. */
  async function violationsOf(tab: Page): Promise<unknown> {
    const source = `${axe}; axe.run({ resultTypes: ["violations"] })`;
    const { violations } = await tab.evaluate<AxeResult>(source);
    return violations.map(({ id, nodes }) => [
      id,
      nodes.map(({ failureSummary }) => failureSummary),
    ]);
  }

  describe.each(KINDS)("%s", (address) => {
    it.each(["light", "dark"] as const)(
      "is accessible and requests nothing from other servers, %s",
      async (colorScheme) => {
        const { tab, complaints } = await open(address, { colorScheme, reducedMotion: "reduce" });
        expect(await violationsOf(tab)).toEqual([]);
        expect(complaints).toEqual([]);
        await tab.close();
      },
    );

    it("fits a screen of 320 pixels", async () => {
      const { tab } = await open(address, { viewport: { width: 320, height: 700 } });
      const overflow = await tab.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth",
      );
      expect(overflow).toBe(0);
      await tab.close();
    });

    it("has a policy that blocks scripts of other pages", async () => {
      const { tab } = await open(address);
      const blocked = await tab.evaluate(`new Promise((resolve) => {
        addEventListener("securitypolicyviolation", ({ effectiveDirective }) => resolve(effectiveDirective), { once: true });
        const script = document.createElement("script");
        script.textContent = "globalThis.injected = true";
        document.head.append(script);
      })`);
      expect(blocked).toBe("script-src-elem");
      expect(await tab.evaluate("globalThis.injected")).toBeUndefined();
      await tab.close();
    });
  });

  it("is usable with the keyboard: skip link, search, and the frameworks' code", async () => {
    const { tab } = await open("/");
    await tab.keyboard.press("Tab");
    expect(await tab.evaluate("document.activeElement.className")).toContain("VPSkipLink");
    await search(tab, "signed out after an hour");
    await tab.locator(".search-box .result").first().waitFor();
    await tab.keyboard.press("Escape");
    await tab.locator(".search-box").waitFor({ state: "detached" });
    await tab.locator(".vp-code-group input").first().focus();
    await tab.keyboard.press("ArrowRight");
    expect(await tab.locator(".vp-code-group .blocks > .active code").innerText()).toContain(
      "idpauth/fastify",
    );
    await tab.close();
  });

  /** The labels of the tabs that the page's code groups show. */
  async function shownTabs(tab: Page): Promise<readonly (string | null)[]> {
    const labels = await tab.locator(".vp-code-group input:checked + label").allTextContents();
    const blocks = await tab.locator(".vp-code-group .blocks > .active").count();
    expect(blocks).toBe(labels.length);
    return labels;
  }

  /**
   * Chooses a tab of a page's first code group with the arrow keys, and waits until the page's
   * script runs.
   */
  async function chooseWithKeyboard(tab: Page, label: string): Promise<void> {
    await tab.locator(".vp-code-group input").first().focus();
    await expect
      .poll(async () => {
        await tab.keyboard.press("ArrowRight");
        return (await shownTabs(tab))[0];
      })
      .toBe(label);
  }

  it("shows the framework that the reader chose in every code group, and on the next pages", async () => {
    const context = await browser.newContext();
    const tab = await context.newPage();
    await tab.goto(`${server.origin}/how-to/guarding.html`, { waitUntil: "networkidle" });
    expect(await shownTabs(tab)).toEqual(["Express", "Express"]);
    await chooseWithKeyboard(tab, "Hono");
    expect(await shownTabs(tab)).toEqual(["Hono", "Hono"]);
    expect(await tab.locator(".vp-code-group .blocks > .active code").allInnerTexts()).toEqual([
      expect.stringContaining("c.json("),
      expect.stringContaining("c.json("),
    ]);

    await tab.locator(".VPSidebar").getByRole("link", { name: "Mount idpauth" }).click();
    await tab.waitForURL("**/how-to/mounting.html");
    await expect.poll(() => shownTabs(tab)).toEqual(["Hono"]);

    // A page whose groups lack the label keeps its own first tab, and a choice there doesn't
    // replace the other one.
    await tab.goto(`${server.origin}/start/fetch.html`, { waitUntil: "networkidle" });
    expect(await shownTabs(tab)).toEqual(["Bun", "Bun", "Bun"]);
    const last = tab.locator(".vp-code-group").last();
    const heightOnScreen = async () => (await last.boundingBox())?.y;
    await last.scrollIntoViewIfNeeded();
    const before = await heightOnScreen();
    await last.getByText("Deno", { exact: true }).click();
    expect(await shownTabs(tab)).toEqual(["Deno", "Deno", "Deno"]);
    await tab.waitForTimeout(100);
    expect(Math.abs(((await heightOnScreen()) ?? 0) - (before ?? 0))).toBeLessThan(2);

    const another = await context.newPage();
    await another.goto(`${server.origin}/how-to/guarding.html`, { waitUntil: "networkidle" });
    expect(await shownTabs(another)).toEqual(["Hono", "Hono"]);
    await context.close();
  });

  it.each([
    [
      "that the browser blocks",
      "Object.defineProperty(globalThis, 'localStorage', { get: () => { throw new Error('blocked'); } })",
    ],
    ["with broken content", "localStorage.setItem('code-groups', '{')"],
  ])("changes code groups together with storage %s", async (_, script) => {
    const tab = await browser.newPage();
    const errors: string[] = [];
    tab.on("pageerror", (error) => errors.push(error.message));
    await tab.addInitScript(script);
    await tab.goto(`${server.origin}/how-to/guarding.html`, { waitUntil: "networkidle" });
    await chooseWithKeyboard(tab, "Koa");
    expect(await shownTabs(tab)).toEqual(["Koa", "Koa"]);
    expect(errors.filter((message) => !message.includes("blocked"))).toEqual([]);
    await tab.close();
  });

  it("begins with the race won, and fails it with the keyboard, told to a screen reader", async () => {
    const { tab } = await open("/", { reducedMotion: "reduce" });
    const race = tab.locator(".race");
    const text = race.locator(".step");
    const counts = race.locator(".counts dd");
    const press = async (name: string) => {
      await race.getByRole("button", { name, exact: true }).focus();
      await tab.keyboard.press("Enter");
    };
    expect(await counts.allInnerTexts()).toEqual(["200 of 200", "1", "0"]);
    expect(await text.innerText()).toContain("All 200 requests succeed");
    expect(await text.getAttribute("aria-live")).toBe("off");
    await press("Kill process A");
    expect(await counts.allInnerTexts()).toEqual(["0 of 200", "0", "0"]);
    expect(await text.getAttribute("aria-live")).toBe("polite");
    for (let step = 0; step < 2; step += 1) await press("Step");
    expect(await text.innerText()).toContain("Process A is killed before its token request");
    const slider = tab.getByLabel("Step of the race");
    expect(await slider.getAttribute("aria-valuetext")).toBe("Step 3 of 8, after 0.03 s");
    await slider.focus();
    await tab.keyboard.press("ArrowRight");
    expect(await text.innerText()).toContain("get 503 with Retry-After");
    await race.getByLabel("Killed").selectOption("between the two");
    await slider.focus();
    await tab.keyboard.press("End");
    expect(await counts.allInnerTexts()).toEqual(["0 of 200", "2", "1"]);
    expect(await text.innerText()).toContain("The user has to sign in again");
    await press("Stop the provider");
    await slider.focus();
    await tab.keyboard.press("End");
    expect(await counts.allInnerTexts()).toEqual(["200 of 200", "1", "0"]);
    await tab.close();
  });

  it("plays a failed race at the button, and stops", async () => {
    const { tab } = await open("/");
    const text = tab.locator(".race .step");
    await tab.locator(".race").getByRole("button", { name: "Kill process A" }).click();
    expect(await text.innerText()).toContain("arrive at once");
    await expect.poll(() => text.innerText(), { timeout: 10_000 }).toContain("takes the lease");
    await tab.locator(".race").getByRole("button", { name: "Pause" }).click();
    expect(await tab.locator(".race .play").innerText()).toBe("Play");
    await tab.close();
  });

  it("shows the race's end without JavaScript", async () => {
    const { tab } = await open("/", { javaScriptEnabled: false });
    expect(await tab.locator(".race .counts dd").allInnerTexts()).toEqual(["200 of 200", "1", "0"]);
    expect(await tab.locator(".race button").first().isVisible()).toBe(false);
    await tab.close();
  });

  it("shows the sentence, the code and the command in the first screen", async () => {
    const { tab } = await open("/");
    for (const part of ["h1", ".lead li a", ".sample .active code", ".command code"])
      expect(
        (await tab.locator(`.first-screen ${part}`).first().boundingBox())?.y,
        part,
      ).toBeLessThan(900);
    await tab.close();
  });

  it.each(KINDS)("%s has a footer with the license and the version", async (address) => {
    const { tab } = await open(address);
    const footer = tab.locator(".site-footer");
    expect(await footer.allInnerTexts()).toEqual([
      expect.stringMatching(/idpauth \d+\.\d+\.\d+[^]*MIT license/),
    ]);
    await tab.close();
  });

  it("sets the code of all pages with the switch in the menu", async () => {
    const context = await browser.newContext();
    const tab = await context.newPage();
    await tab.goto(`${server.origin}/how-to/guarding.html`, { waitUntil: "networkidle" });
    const framework = tab.locator("#framework");
    expect(await framework.inputValue()).toBe("Express");
    await framework.focus();
    await tab.keyboard.type("Fastify");
    await expect.poll(() => shownTabs(tab)).toEqual(["Fastify", "Fastify"]);
    await tab.goto(`${server.origin}/how-to/mounting.html`, { waitUntil: "networkidle" });
    expect(await tab.locator("#framework").inputValue()).toBe("Fastify");
    expect(await shownTabs(tab)).toEqual(["Fastify"]);
    await chooseWithKeyboard(tab, "Hono");
    expect(await tab.locator("#framework").inputValue()).toBe("Hono");
    await context.close();
  });

  it("shows the code of every framework without JavaScript", async () => {
    const { tab } = await open("/how-to/mounting.html", { javaScriptEnabled: false });
    const blocks = tab.locator(".vp-code-group .blocks > div");
    for (const block of await blocks.all()) expect(await block.isVisible()).toBe(true);
    expect(await blocks.nth(1).getAttribute("data-label")).toBe("Fastify");
    expect(await tab.locator("#framework").isVisible()).toBe(false);
    await tab.close();
  });

  it("shows the rows of a table as cards on a phone", async () => {
    const { tab } = await open("/", { viewport: { width: 390, height: 900 } });
    const rows = tab.locator(".vp-doc tbody tr");
    expect(await rows.count()).toBeGreaterThan(3);
    for (const row of await rows.all())
      expect((await row.boundingBox())?.width).toBeLessThanOrEqual(342);
    const labels = await tab.locator(".vp-doc tbody [data-label='What your users notice']").count();
    expect(labels).toBe(await rows.count());
    await tab.close();
  });

  it("suggests pages whose address is like the one that doesn't exist", async () => {
    // A static host serves this page for each address that it doesn't have.
    const page = await browser.newPage();
    await page.route("**/guides/step-up", async (route) =>
      route.fulfill({
        contentType: "text/html",
        body: await readFile(path.join(DIST, "404.html"), "utf8"),
      }),
    );
    await page.goto(`${server.origin}/guides/step-up`, { waitUntil: "networkidle" });
    expect(await page.locator("h1").innerText()).toBe("There's no page at this address");
    expect(await page.locator(".not-found a").first().getAttribute("href")).toBe(
      "/how-to/step-up.html",
    );
    await page.close();
  });

  it("gives each page a description of its own, an icon, and what a link to it shows elsewhere", async () => {
    const names = readdirSync(DIST, { recursive: true, encoding: "utf8" }).filter(
      (name) => name.endsWith(".html") && !/^(?:e\/|404)/.test(name),
    );
    const descriptions = new Map<string, string[]>();
    for (const name of names) {
      const html = await readFile(path.join(DIST, name), "utf8");
      if (html.includes('http-equiv="refresh"')) continue;
      const [, description = ""] = /<meta name="description" content="([^"]+)"/.exec(html) ?? [];
      descriptions.set(description, [...(descriptions.get(description) ?? []), name]);
      expect(html, name).toContain(`<meta property="og:description" content="${description}">`);
      expect(html, name).toContain('<link rel="icon" href="/favicon.svg"');
    }
    expect([...descriptions].filter(([, pages]) => pages.length > 1)).toEqual([]);
    expect(descriptions.size).toBeGreaterThan(80);
    for (const file of ["favicon.svg", "favicon-32.png", "apple-touch-icon.png", "social.png"])
      expect(existsSync(path.join(DIST, file)), file).toBe(true);
  });

  it("computes the session timeline with the keyboard", async () => {
    const { tab } = await open("/how-to/sessions.html");
    const result = tab.locator(".timeline .result");
    expect(await result.innerText()).toContain("ends after 8 h, when the maximum age is reached");
    await tab.getByLabel("Maximum age").focus();
    await tab.keyboard.press("ArrowLeft");
    expect(await result.innerText()).toContain("ends after 7 h 30 min");
    await tab.getByLabel("The provider sent a refresh token").focus();
    await tab.keyboard.press("Space");
    expect(await result.innerText()).toContain("ends after 1 h, when the ID token expires");
    await tab.close();
  });

  it("shows the session timeline's first values without JavaScript", async () => {
    const { tab } = await open("/how-to/sessions.html", { javaScriptEnabled: false });
    expect(await tab.locator(".timeline .result").innerText()).toContain("ends after 8 h");
    expect(await tab.locator(".timeline svg[role=img]").isVisible()).toBe(true);
    expect(await tab.locator(".timeline input").first().isVisible()).toBe(false);
    await tab.close();
  });

  it.each([
    ["/explanation/security.html", 2],
    ["/how-to/sessions.html", 1],
    ["/reference/accessors.html", 1],
  ])("shows the figures of %s, on a phone the narrow ones", async (address, count) => {
    for (const [width, widest] of [
      [1280, 640],
      [390, 342],
    ] as const) {
      const { tab } = await open(address, { viewport: { width, height: 900 } });
      const images = await tab.evaluate(
        `[...document.querySelectorAll("picture.figure img")].map((image) => image.naturalWidth)`,
      );
      expect(images).toEqual(Array.from({ length: count }, () => widest));
      await tab.close();
    }
  });

  it("cuts no table or block of code, on any page, at 1280 and 390 pixels", async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const tab = await context.newPage();
    const names = readdirSync(DIST, { recursive: true, encoding: "utf8" }).filter(
      (name) =>
        name.endsWith(".html") &&
        !readFileSync(path.join(DIST, name), "utf8").includes('http-equiv="refresh"'),
    );
    expect(names.length).toBeGreaterThan(100);
    const cut: string[] = [];
    for (const name of names) {
      await tab.goto(`${server.origin}/${name}`, { waitUntil: "load" });
      for (const width of [1280, 390]) {
        await tab.setViewportSize({ width, height: 900 });
        const found = await tab.evaluate<string[]>(CUT);
        cut.push(...found.map((text) => `${name} at ${String(width)}: ${text}`));
      }
    }
    expect(cut).toEqual([]);
    await context.close();
  }, 240_000);

  it("prints the threat model without menus, and with whole tables", async () => {
    const a4 = { width: 688, height: 1000 };
    const { tab } = await open("/reference/threat-model.html", { viewport: a4 });
    await tab.emulateMedia({ media: "print" });
    for (const menu of [".VPNav", ".VPLocalNav", ".VPSidebar"])
      expect(await tab.locator(menu).first().isVisible(), menu).toBe(false);
    const hidden = await tab.evaluate<number[]>(
      `[...document.querySelectorAll(".vp-doc table")].map((table) => table.scrollWidth - table.clientWidth)`,
    );
    expect(hidden.length).toBeGreaterThan(4);
    expect(hidden.filter((pixels) => pixels > 0)).toEqual([]);
    await tab.close();
  });

  it.each(["light", "dark"] as const)(
    "shows the screenshots of signing-out.md that are %s, as wide as a phone at most",
    async (colorScheme) => {
      const { tab } = await open("/how-to/signing-out.html", {
        colorScheme,
        viewport: { width: 390, height: 900 },
      });
      const images = tab.locator(`.screenshot img.${colorScheme}`);
      expect(await images.count()).toBe(2);
      for (const image of await images.all()) await image.scrollIntoViewIfNeeded();
      // The page's policy lets no script poll.
      await expect
        .poll(() =>
          tab.evaluate(
            `[...document.querySelectorAll(".screenshot img.${colorScheme}")].every((image) => image.naturalWidth === 900)`,
          ),
        )
        .toBe(true);
      for (const box of await tab.locator(".screenshot").all())
        expect((await box.boundingBox())?.width).toBeLessThanOrEqual(342);
      expect(await tab.locator(".screenshot img:visible").count()).toBe(2);
      await tab.close();
    },
  );

  it("searches with the keyboard, and shows the text of what it finds", async () => {
    const { tab, complaints } = await open("/start/express.html", { reducedMotion: "reduce" });
    await search(tab, "users are signed out after an hour");
    const first = tab.locator(".search-box .result").first();
    // The results change while the words are typed.
    await expect
      .poll(() => first.getAttribute("href"))
      .toBe("/how-to/troubleshooting.html#users-are-signed-out-after-an-hour");
    await expect.poll(() => first.locator(".excerpt").innerText()).toContain("refresh token");
    await expect
      .poll(() => tab.locator(".search-box [role=status]").innerText())
      .toMatch(/^\d+ results$/);
    expect(await violationsOf(tab)).toEqual([]);
    await tab.keyboard.press("ArrowDown");
    const isFocused = "document.activeElement === document.querySelector('.search-box .result')";
    expect(await tab.evaluate(isFocused)).toBe(true);
    await tab.keyboard.press("ArrowUp");
    await tab.keyboard.press("Enter");
    await tab.waitForURL("**/how-to/troubleshooting.html#users-are-signed-out-after-an-hour");
    expect(complaints).toEqual([]);
    await tab.close();
  });

  it("says that the search loads, finds headings before texts, and tries again", async () => {
    const { tab } = await open("/start/express.html");
    let isFailing = true;
    let texts = (): void => undefined;
    const isLoaded = new Promise<void>((resolve) => (texts = resolve));
    await tab.route("**/search/*.json", async (route) => {
      const isHeadings = route.request().url().endsWith("headings.json");
      if (isHeadings && isFailing) return route.abort();
      if (!isHeadings) await isLoaded;
      return route.continue();
    });
    await search(tab, "troubleshoot");
    const status = tab.locator(".search-box .status");
    await expect.poll(() => status.innerText()).toContain("couldn't be loaded");
    isFailing = false;
    await tab.getByRole("button", { name: "Try again" }).click();
    const first = tab.locator(".search-box .result").first();
    await expect.poll(() => first.getAttribute("href")).toBe("/how-to/troubleshooting.html");
    expect(await status.innerText()).toBe("Loading the text of the pages…");
    texts();
    await expect.poll(() => status.innerText()).toMatch(/^\d+ results?$/);
    await tab.close();
  });

  /** What llms.txt leads to, as one string. */
  async function allText(): Promise<string> {
    const list = await readFile(path.join(DIST, "llms.txt"), "utf8");
    const files = [...list.matchAll(/\]\(\/(llms\/[a-z]+\.txt)\)/g)];
    expect(files.length).toBeGreaterThan(5);
    const texts = await Promise.all(
      files.map(([, file = ""]) => readFile(path.join(DIST, file), "utf8")),
    );
    return texts.join("\n");
  }

  it("lists each page for language models with a description of its own", async () => {
    const list = await readFile(path.join(DIST, "llms.txt"), "utf8");
    const descriptions = [...list.matchAll(/^- \[.+\]\(\/.+\.md\): (.+)$/gm)].map(
      ([, text = ""]) => text,
    );
    expect(descriptions.length).toBeGreaterThan(80);
    expect(new Set(descriptions).size).toBe(descriptions.length);
  });

  describe("the search index", () => {
    let index: ReturnType<typeof searchIndexOf>;

    beforeAll(() => {
      index = searchIndexOf(DIST);
    });

    it.each(QUERIES)("finds %s among the first three results: %s", (query, ...pages) => {
      const addresses = index
        .find(query, 3)
        .map(({ href }) =>
          href
            .slice(1)
            .replace(/#.*$/, "")
            .replace(/(^|\/)$/, "$1index"),
        )
        .map((address) => address.replace(/\.html$/, ""));
      expect(
        addresses.some((address) => pages.includes(address)),
        addresses.join(", "),
      ).toBe(true);
    });
  });

  it.each(["E016", "login_loop"])("redirects the address of %s to its section", async (code) => {
    const { tab } = await open(`/e/${code}.html`);
    await tab.waitForURL(`**/reference/errors.html#${code.toLowerCase()}`);
    expect(await tab.locator(`#${code.toLowerCase()}`).innerText()).toContain(code);
    await tab.close();
  });

  it("redirects the address of a page that has moved", async () => {
    const { tab, complaints } = await open("/how-to/your-provider.html");
    await tab.waitForURL("**/providers/");
    expect(await tab.locator("h1").innerText()).toContain("Set up your provider");
    expect(complaints).toEqual([]);
    await tab.close();
  });

  it("shows the current page in the menus, by its title", async () => {
    const { tab } = await open("/explanation/failures.html", {
      viewport: { width: 1280, height: 500 },
    });
    const current = tab.locator(".VPSidebarItem.is-active > .item");
    const isInView = () =>
      tab.evaluate<boolean>(`(() => {
        const { top, bottom } = document.querySelector(".VPSidebarItem.is-active > .item").getBoundingClientRect();
        return top >= 64 && bottom <= innerHeight;
      })()`);
    const section = tab.locator(".VPNavBarMenuLink.active");
    const opened = tab.locator(".VPSidebar [aria-expanded=true] .text");
    await expect.poll(isInView).toBe(true);
    expect(await tab.locator("h1").innerText()).toContain(await current.innerText());
    expect(await section.allInnerTexts()).toEqual(["Trust"]);
    expect(await opened.allInnerTexts()).toEqual(["Guarantees"]);

    // To a page of another section, and with the keyboard to one of another group.
    await tab.locator(".VPNavBarMenu").getByRole("link", { name: "Guides" }).click();
    await tab.waitForURL("**/how-to/");
    await expect.poll(() => section.allInnerTexts()).toEqual(["Guides"]);
    await expect.poll(() => opened.allInnerTexts()).toEqual([]);
    const group = tab.getByRole("button", { name: "Test, adapt and extend" });
    await group.focus();
    await tab.keyboard.press("Space");
    await expect.poll(() => group.getAttribute("aria-expanded")).toBe("true");
    await tab.keyboard.press("Enter");
    await expect.poll(() => group.getAttribute("aria-expanded")).toBe("false");
    await tab.keyboard.press("Enter");
    await tab.keyboard.press("Tab");
    await tab.keyboard.press("Enter");
    await tab.waitForURL("**/how-to/testing.html");
    await expect.poll(() => current.allInnerTexts()).toEqual(["Test your app"]);
    await expect.poll(isInView).toBe(true);
    await tab.close();
  });

  it("has the anchor of each link", async () => {
    const names = readdirSync(DIST, { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith(".html"),
    );
    const pages = new Map<string, string>(
      await Promise.all(
        names.map(
          async (name) => [`/${name}`, await readFile(path.join(DIST, name), "utf8")] as const,
        ),
      ),
    );
    // TypeDoc numbers the anchors of its pages itself.
    const written = [...pages].filter(([page]) => !page.startsWith("/api/"));
    const missing = written.flatMap(([page, html]) =>
      [...html.matchAll(/<a [^>]*?href="([^"#]*)#([^"]+)"/g)].flatMap(
        ([, target = "", anchor = ""]) => {
          if (/^https?:/.test(target)) return [];
          const { pathname } = new URL(target === "" ? page : target, `http://localhost${page}`);
          const there = pages.get(pathname.endsWith("/") ? `${pathname}index.html` : pathname);
          return there?.includes(` id="${decodeURIComponent(anchor)}"`) === true
            ? []
            : [`${page}: ${target}#${anchor}`];
        },
      ),
    );
    expect(missing).toEqual([]);
    expect(pages.size).toBeGreaterThan(60);
  });

  it("has each page for users as Markdown, with its images", async () => {
    const menu = readSections(path.join(ROOT, "site/pages"))
      .flatMap(({ items }) => linksOf(items))
      .map((link) => `${link.slice(1).replace(/(^|\/)$/, "$1index")}.md`)
      .filter((page) => !isApart(page));
    for (const page of menu) {
      const text = await readFile(path.join(DIST, page), "utf8");
      for (const [, image = ""] of text.matchAll(/^!\[.+\]\((.+)\)$/gm))
        expect(existsSync(path.join(DIST, path.dirname(page), image)), `${page}: ${image}`).toBe(
          true,
        );
    }
    const full = await allText();
    for (const page of menu) {
      expect(full).toContain(await readFile(path.join(DIST, page), "utf8"));
    }
    // The results are files, and no pages.
    expect(existsSync(path.join(DIST, "evidence/security.json"))).toBe(true);
    expect(existsSync(path.join(DIST, "evidence/security.html"))).toBe(true);
  });
});

/**
 * Opens the search with the keyboard. Its box loads at the first use, and keys that are pressed
 * before it has the focus are lost.
 */
async function search(tab: Page, words: string): Promise<void> {
  const box = tab.locator(".search-box input");
  await expect
    .poll(async () => {
      await tab.keyboard.press("Control+k");
      return box.isVisible();
    })
    .toBe(true);
  await expect
    .poll(() => tab.evaluate("document.activeElement?.matches('.search-box input')"))
    .toBe(true);
  await tab.keyboard.type(words);
}
