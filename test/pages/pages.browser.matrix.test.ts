import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { timesScript } from "../../src/endpoints/session-list.js";
import { stylesheet } from "../../src/http/reply.js";
import { debugPage } from "../../src/pages/debug-page.js";
import { createPages } from "../../src/pages/pages.js";
import { popupPage } from "../../src/pages/popup-page.js";
import { chromiumForTests, launchChromium } from "../support/chromium.js";
import { LOOKS, startPageServer } from "./page-server.mjs";
import { allStates } from "./states.mjs";

const executablePath = await chromiumForTests();
const STATES = Object.entries(allStates("")).flatMap(([page, states]) =>
  Object.keys(states).map((name) => `${page}-${name}`),
);
const SCREENS = [
  ["phone", "light", 320],
  ["desktop", "dark", 1280],
] as const;

const OVERFLOW =
  "Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth)";
const AXE_IN_LOOKS = new Set([
  "landing-signed-in",
  "landing-ended-debug",
  "landing-sign-in-error",
  "sessions-several",
  "error-invalid-parameter",
  "organization-first",
  "organization-unknown",
]);

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
  }[];
  readonly passes: readonly { readonly id: string }[];
}

describe.skipIf(executablePath === undefined)("the pages in a browser", () => {
  let browser: Browser;
  let server: Awaited<ReturnType<typeof startPageServer>>;
  let axe: string;

  beforeAll(async () => {
    axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
    server = await startPageServer({
      createPages,
      popupPage,
      stylesheet,
      debugPage,
      timesScript,
    });
    browser = await launchChromium(executablePath ?? "");
  }, 120_000);

  afterAll(async () => {
    await browser.close();
    await server.close();
  });

  async function expectAccessible(tab: Page): Promise<void> {
    await tab.evaluate(axe);
    const { violations, passes } = await tab.evaluate<AxeResult>("axe.run()");
    expect(
      violations.map(({ id, nodes }) => ({ id, nodes: nodes.map((node) => node.failureSummary) })),
    ).toEqual([]);
    expect(passes.map(({ id }) => id)).toContain("color-contrast");
  }

  describe.each(SCREENS)("on a %s, %s", (_device, colorScheme, width) => {
    let tab: Page;
    const complaints: string[] = [];
    const outside: string[] = [];

    beforeAll(async () => {
      tab = await browser.newPage({ colorScheme, viewport: { width, height: 720 } });
      tab.on("console", (message) => {
        if (!message.location().url.endsWith("/gone.png")) complaints.push(message.text());
      });
      tab.on("pageerror", (error) => complaints.push(error.message));
      tab.on("request", (request) => {
        if (!request.url().startsWith(server.url(""))) outside.push(request.url());
      });
    });
    afterAll(() => tab.close());

    it.each(STATES)(
      "%s: axe finds nothing, nothing scrolls sideways, the policy refuses nothing, nothing is inline",
      async (state) => {
        complaints.length = 0;
        outside.length = 0;
        await tab.goto(server.url(state), { waitUntil: "load" });
        expect(
          await tab.evaluate(
            "document.querySelectorAll('script:not([src]), style, [style], iframe').length",
          ),
        ).toBe(0);
        expect(await tab.evaluate("document.querySelectorAll('form').length")).toBe(
          /^(?:sessions|other-user|organization)-/.test(state) ? 1 : 0,
        );
        expect(
          await tab.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth",
          ),
        ).toBeLessThanOrEqual(0);
        // The stylesheet has arrived, and in the scheme asked for.
        const background = await tab.evaluate("getComputedStyle(document.body).backgroundColor");
        expect(background).toBe(colorScheme === "light" ? "rgb(238, 241, 246)" : "rgb(15, 19, 25)");
        await expectAccessible(tab);
        expect(complaints).toEqual([]);
        expect(outside).toEqual([]);
      },
    );
  });

  describe.each(Object.keys(LOOKS).filter((look) => look !== ""))("in the style %s", (look) => {
    it("axe finds nothing, light and dark, and nothing scrolls sideways on a phone or enlarged", async () => {
      const tab = await browser.newPage({ colorScheme: "light" });
      const dark = await browser.newPage({ colorScheme: "dark" });
      const complaints: string[] = [];
      tab.on("console", (message) => {
        if (!message.location().url.endsWith("/gone.png"))
          complaints.push(`${tab.url()}: ${message.text()}`);
      });
      try {
        for (const state of STATES) {
          await tab.setViewportSize({ width: 320, height: 640 });
          await tab.goto(server.url(state, look), { waitUntil: "load" });
          expect([state, await tab.evaluate(OVERFLOW)]).toEqual([state, 0]);
          // Looks differ in texts, direction and colors, not in structure. axe judges no contrast
          // of text in Arabic letters alone.
          if (AXE_IN_LOOKS.has(state)) {
            await expectAccessible(tab);
            // Not the same tab, whose colors would fade.
            await dark.goto(server.url(state, look), { waitUntil: "load" });
            await expectAccessible(dark);
          }
          // A desktop of 1280 pixels at 200 %, with letters of twice the size besides
          // (WCAG 2.2, 1.4.4 and 1.4.10).
          await tab.setViewportSize({ width: 640, height: 360 });
          expect([state, await tab.evaluate(OVERFLOW)]).toEqual([state, 0]);
          await tab.evaluate("document.documentElement.style.fontSize = '200%'");
          expect([state, await tab.evaluate(OVERFLOW)]).toEqual([state, 0]);
        }
      } finally {
        await Promise.all([tab.close(), dark.close()]);
      }
      expect(complaints).toEqual([]);
    });
  });

  it("in Arabic, runs from right to left", async () => {
    const tab = await browser.newPage({ viewport: { width: 900, height: 700 } });
    try {
      await tab.goto(server.url("sessions-several", "ar"));
      const [name, button] = await Promise.all(
        ["li:nth-child(2) .name", "li:nth-child(2) button"].map((selector) =>
          tab.locator(`.sessions ${selector}`).boundingBox(),
        ),
      );
      expect(name?.x).toBeGreaterThan(button?.x ?? Infinity);
      await tab.goto(server.url("landing-ended-debug", "ar"));
      expect(await tab.evaluate("getComputedStyle(document.querySelector('code')).direction")).toBe(
        "ltr",
      );
    } finally {
      await tab.close();
    }
  });

  it("with forced colors, buttons and cards keep an edge", async () => {
    const tab = await browser.newPage({ forcedColors: "active" });
    try {
      await tab.goto(server.url("landing-ended-idle"));
      for (const selector of [".card", ".button", ".rule", ".emblem"]) {
        expect(
          await tab.evaluate(
            `getComputedStyle(document.querySelector('${selector}')).borderTopStyle`,
          ),
        ).toBe("solid");
      }
    } finally {
      await tab.close();
    }
  });

  it("shows the logo, and the application's name for it", async () => {
    const tab = await browser.newPage();
    try {
      await tab.goto(server.url("landing-signed-in", "own"), { waitUntil: "load" });
      expect(
        await tab.evaluate("document.querySelector('.brand img').naturalWidth"),
      ).toBeGreaterThan(0);
      expect(
        await tab.getByRole("banner").getByRole("link", { name: "Example Shop" }).count(),
      ).toBe(1);
      await tab.keyboard.press("Tab");
      await tab.keyboard.press("Enter");
      await expect.poll(() => tab.url()).toBe(server.url("shop"));
    } finally {
      await tab.close();
    }
  });

  it("loads the logo's path, with any query, and no other image of the same origin", async () => {
    const outcome = (src: string) =>
      `new Promise((resolve) => Object.assign(new Image(), { onload: () => resolve("loaded"), onerror: () => resolve("refused"), src: "${src}" }))`;
    for (const [src, expected] of [
      ["/logo.svg?v=2", "loaded"],
      ["/picture.svg", "refused"],
    ] as const) {
      expect(await inFreshTab(browser, server.url("landing-signed-out", "own"), outcome(src))).toBe(
        expected,
      );
    }
  });

  it("the sessions page can be worked with the keyboard: each control shows the focus, in the order of the page", async () => {
    const tab = await browser.newPage();
    try {
      await tab.goto(server.url("sessions-several", "de"));
      const reached: unknown[] = [];
      for (let step = 0; step < 6; step += 1) {
        await tab.keyboard.press("Tab");
        expect(await tab.evaluate("getComputedStyle(document.activeElement).outlineStyle")).toBe(
          "solid",
        );
        reached.push(await tab.evaluate("document.activeElement.textContent"));
      }
      expect(reached).toEqual([
        "Abmelden",
        "Sitzung beenden",
        "Sitzung beenden",
        "Alle anderen Sitzungen beenden",
        "Überall abmelden",
        "Ihr Konto",
      ]);
    } finally {
      await tab.close();
    }
  });

  it.each([
    ["", "Europe/Berlin", "21 Nov 2026, 12:00 CET", "22 Nov 2026, 11:58 CET"],
    ["de", "Asia/Tokyo", "21. Nov. 2026, 20:00", "22. Nov. 2026, 19:58"],
    ["ja", "Asia/Tokyo", "2026年11月21日 20:00 JST", "2026年11月22日 19:58 JST"],
    ["ar", "UTC", "21 نوفمبر 2026، 11:00 UTC", "22 نوفمبر 2026، 10:58 UTC"],
  ])(
    "in the style %j and the zone %s, times are the reader's, also in the button's name; without scripts they are in UTC",
    async (look, timezoneId, signedIn, lastSeen) => {
      const shown = async (javaScriptEnabled: boolean) => {
        const tab = await browser.newPage({ timezoneId, javaScriptEnabled });
        try {
          await tab.goto(server.url("sessions-two", look), { waitUntil: "load" });
          const item = tab.locator(".sessions li").last();
          return {
            times: await item.locator("time").allInnerTexts(),
            instants: await item
              .locator("time")
              .evaluateAll((all) => all.map((time) => time.getAttribute("datetime"))),
            name: await item.getByRole("button").getAttribute("aria-label"),
          };
        } finally {
          await tab.close();
        }
      };
      const local = await shown(true);
      expect([local.times[0], local.times[1]]).toEqual([
        expect.stringContaining(signedIn),
        expect.stringContaining(lastSeen),
      ]);
      expect(local.name).toContain(local.times[0]);
      const { times, instants, name } = await shown(false);
      expect(instants).toEqual(["2026-11-21T11:00:00.000Z", "2026-11-22T10:58:20.000Z"]);
      expect(times.every((time) => /(?:11:00|10:58) UTC$/.test(time))).toBe(true);
      expect(name).toContain(times[0]);
    },
  );

  it("runs no other script on the sessions page, from this origin or inline", async () => {
    const tab = await browser.newPage();
    const refused: string[] = [];
    tab.on("console", (message) => refused.push(message.text()));
    try {
      await tab.goto(server.url("sessions-two"), { waitUntil: "load" });
      expect(refused).toEqual([]);
      for (const [name, value] of [
        ["src", "/idpauth/popup.js"],
        ["textContent", "document.title = 'ran'"],
      ] as const)
        await tab.evaluate(
          `document.head.append(Object.assign(document.createElement("script"), ${JSON.stringify({ [name]: value })}))`,
        );
      await expect.poll(() => refused.length).toBe(2);
      expect(refused.every((text) => text.includes("Content Security Policy"))).toBe(true);
      expect(await tab.title()).toBe("Your sessions");
    } finally {
      await tab.close();
    }
  });

  it("shows an icon in its own size, and the same buttons with and without one", async () => {
    const tab = await browser.newPage({ viewport: { width: 390, height: 844 } });
    try {
      await tab.goto(server.url("chooser-icons"), { waitUntil: "load" });
      const images = await tab
        .locator(".choices img")
        .evaluateAll((all) =>
          all.map((image) => [image.clientWidth, image.clientHeight, image.getAttribute("alt")]),
        );
      expect(images.slice(0, 2)).toEqual([
        [24, 24, ""],
        [24, 24, ""],
      ]);
      expect(
        await tab.evaluate("document.querySelector('.choices img').naturalWidth"),
      ).toBeGreaterThan(0);
      const boxes = await Promise.all(
        [0, 1].map((at) => tab.locator(".choices a").nth(at).boundingBox()),
      );
      expect([boxes[0]?.width, boxes[0]?.height]).toEqual([boxes[1]?.width, boxes[1]?.height]);
      expect(
        await tab.getByRole("link", { name: "Example staff", exact: true }).getAttribute("href"),
      ).toContain("provider=staff");
    } finally {
      await tab.close();
    }
  });

  it("the page that asks for the email address can be worked with the keyboard alone, and posts the address with what the login keeps", async () => {
    const tab = await browser.newPage({ viewport: { width: 390, height: 844 } });
    try {
      await tab.goto(server.url("organization-providers"), { waitUntil: "load" });
      expect(await tab.evaluate("document.activeElement.tagName")).toBe("BODY");
      const reached: unknown[] = [];
      for (let step = 0; step < 3; step += 1) {
        await tab.keyboard.press("Tab");
        reached.push(
          await tab.evaluate(
            "[document.activeElement.tagName, getComputedStyle(document.activeElement).outlineStyle]",
          ),
        );
      }
      expect(reached).toEqual([
        ["INPUT", "solid"],
        ["BUTTON", "solid"],
        ["A", "solid"],
      ]);
      const field = tab.getByRole("textbox", { name: "Work email address", exact: true });
      await field.focus();
      await tab.keyboard.type("ada");
      await tab.keyboard.press("Enter");
      expect(await tab.evaluate("document.querySelector('#email').validity.typeMismatch")).toBe(
        true,
      );
      expect(tab.url()).toBe(server.url("organization-providers"));
      await tab.keyboard.type("@acme.example");
      const [request] = await Promise.all([
        tab.waitForRequest((sent) => sent.method() === "POST"),
        tab.keyboard.press("Enter"),
      ]);
      expect(request.url()).toBe(server.url("idpauth/login/"));
      expect([...new URLSearchParams(request.postData() ?? "")]).toEqual([
        ["scheme", "PRESERVE_ORIGIN_QP"],
        ["origin_url", '/reports?quarter=3&name=é"<x>'],
        ["email", "ada@acme.example"],
      ]);
    } finally {
      await tab.close();
    }
  });

  it.each(["light", "dark"] as const)(
    "after an unknown address, %s, the field has the focus, the address and the error",
    async (colorScheme) => {
      const tab = await browser.newPage({ colorScheme, viewport: { width: 390, height: 844 } });
      try {
        await tab.goto(server.url("organization-unknown"), { waitUntil: "load" });
        await expect.poll(() => tab.evaluate("document.activeElement.id")).toBe("email");
        expect(await tab.getByRole("textbox").inputValue()).toBe("ada@unknown.example");
        expect(await tab.getByRole("alert").innerText()).toContain(
          "We don't know this organization.",
        );
        const described = await tab.evaluate(
          "document.querySelector('#email').getAttribute('aria-describedby').split(' ').map((id) => document.getElementById(id).innerText.trim()).join(' ')",
        );
        expect(described).toMatch(
          /^We don't know this organization\. .* decides how you sign in\.$/,
        );
        // As large as the other controls, so that it can be hit, and no browser enlarges the page.
        const box = await tab.getByRole("textbox").boundingBox();
        expect(box?.height).toBeGreaterThanOrEqual(44);
        expect(
          await tab.evaluate("parseFloat(getComputedStyle(document.activeElement).fontSize)"),
        ).toBeGreaterThanOrEqual(16);
        await expectAccessible(tab);
      } finally {
        await tab.close();
      }
    },
  );

  it("in Arabic, an address is written from left to right, and begins at the right", async () => {
    const tab = await browser.newPage({ forcedColors: "active" });
    try {
      await tab.goto(server.url("organization-unknown", "ar"));
      const style = (property: string) =>
        tab.evaluate(`getComputedStyle(document.querySelector('#email')).${property}`);
      expect([await style("direction"), await style("textAlign")]).toEqual(["ltr", "right"]);
      // With forced colors, the error is not a color alone.
      expect([await style("borderTopStyle"), await style("borderTopWidth")]).toEqual([
        "solid",
        "3px",
      ]);
    } finally {
      await tab.close();
    }
  });

  it("shows the picture from the one origin that the policy names", async () => {
    const loaded = "document.querySelector('img').naturalWidth";
    expect(await inFreshTab(browser, server.url("landing-signed-in"), loaded)).toBeGreaterThan(0);
  });

  it("shows an initial where the picture does not load", async () => {
    const shown = "getComputedStyle(document.querySelector('img'), '::after').content";
    expect(await inFreshTab(browser, server.url("landing-signed-in-long"), shown)).toBe('"W"');
  });

  it("can be worked with the keyboard, and shows where the focus is", async () => {
    const tab = await browser.newPage();
    try {
      await tab.goto(server.url("landing-signed-out"));
      await tab.keyboard.press("Tab");
      expect(await tab.evaluate("document.activeElement.textContent")).toBe("Sign in");
      expect(await tab.evaluate("getComputedStyle(document.activeElement).outlineStyle")).toBe(
        "solid",
      );
      await tab.keyboard.press("Enter");
      await expect.poll(() => tab.url()).toBe(server.url("idpauth/login/"));
    } finally {
      await tab.close();
    }
  });

  it("does not move for those who set reduced motion", async () => {
    const tab = await browser.newPage({ reducedMotion: "reduce" });
    try {
      await tab.goto(server.url("landing-signed-out"));
      expect(
        await tab.evaluate(
          "getComputedStyle(document.querySelector('.button')).transitionDuration",
        ),
      ).toBe("0s");
    } finally {
      await tab.close();
    }
  });
});

async function inFreshTab(browser: Browser, url: string, expression: string): Promise<unknown> {
  const tab = await browser.newPage();
  try {
    await tab.goto(url, { waitUntil: "load" });
    return await tab.evaluate(expression);
  } finally {
    await tab.close();
  }
}
