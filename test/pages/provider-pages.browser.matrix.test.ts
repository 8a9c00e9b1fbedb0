import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { providerCommand } from "../../src/cli/provider/provider-command.js";
import { chromiumForTests, launchChromium } from "../support/chromium.js";

const executablePath = await chromiumForTests();
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const LONG = "Wolfeschlegelsteinhausenbergerdorff".repeat(5);
const SCREENS = [
  ["phone", "light", 320],
  ["phone", "dark", 320],
  ["desktop", "light", 1280],
  ["desktop", "dark", 1280],
] as const;
/** Where to put screenshots; by default none are taken. */
const SHOTS = process.env["SCREENSHOTS"];

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly failureSummary: string }[];
  }[];
  readonly passes: readonly { readonly id: string }[];
}

describe.skipIf(executablePath === undefined)(
  "the pages of `idpauth provider` in a browser",
  () => {
    let browser: Browser;
    let folder: string;
    let stop: () => void = () => {};
    let ended: Promise<unknown>;
    let issuer = "";
    let application = "";
    const server = createServer((_request, response) =>
      response.end("<!doctype html><title>Application</title>The application"),
    );

    beforeAll(async () => {
      folder = mkdtempSync(path.join(tmpdir(), "idpauth-provider-"));
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      application = `http://localhost:${(server.address() as AddressInfo).port}`;
      const stopped = new Promise<void>((resolve) => (stop = resolve));
      const people = [
        "Ada Lovelace <ada@example.com>",
        "Grace Hopper <grace@example.com>",
        `${LONG} <${LONG}@example.com>`,
      ];
      let output = "";
      await new Promise<void>((resolve) => {
        const argv = [
          "--port=0",
          "--providers=staff,customers",
          "--consent",
          ...people.map((person) => `--staff.person=${person}`),
        ];
        ended = providerCommand(argv, {
          env: {},
          folder,
          home: folder,
          now: Date.now,
          stopped,
          write(text) {
            output += text;
            if (text.includes("Ctrl+C")) resolve();
          },
        });
      });
      issuer = /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0] ?? "";
      browser = await launchChromium(executablePath ?? "");
    }, 120_000);

    afterAll(async () => {
      await browser.close();
      stop();
      await ended;
      server.close();
      server.closeAllConnections();
      rmSync(folder, { recursive: true, force: true });
    });

    function addressOf(state: string): string {
      if (state === "home") return `${issuer}/`;
      const query = new URLSearchParams({
        client_id: state === "problem" ? "another-client" : "idpauth-dev-staff",
        redirect_uri: `${application}/idpauth/login-callback`,
        response_type: "code",
        scope: "openid email profile offline_access orders:read",
        resource: "https://orders.example.com",
        state: "a-state",
        code_challenge: "c".repeat(43),
        code_challenge_method: "S256",
        ...(state === "choice-hinted" && { login_hint: "grace@example.com" }),
      });
      return `${issuer}/staff/authorize?${query.toString()}`;
    }

    describe.each(SCREENS)("on a %s, %s", (device, colorScheme, width) => {
      let tab: Page;
      const complaints: string[] = [];

      beforeAll(async () => {
        tab = await browser.newPage({ colorScheme, viewport: { width, height: 720 } });
        tab.on("console", (message) => complaints.push(message.text()));
      });
      afterAll(() => tab.close());

      it.each(["choice", "choice-hinted", "consent", "home", "problem"])(
        "%s: axe finds nothing, nothing scrolls sideways, the policy refuses nothing, nothing is inline",
        async (state) => {
          complaints.length = 0;
          await tab.goto(addressOf(state), { waitUntil: "load" });
          if (state === "consent") {
            await tab.getByRole("button", { name: "Ada Lovelace" }).click();
            await tab.getByRole("button", { name: "Deny" }).waitFor();
          }
          expect(
            await tab.evaluate(
              "document.querySelectorAll('script, style, [style], iframe').length",
            ),
          ).toBe(0);
          expect(
            await tab.evaluate(
              "document.documentElement.scrollWidth - document.documentElement.clientWidth",
            ),
          ).toBeLessThanOrEqual(0);
          const background = await tab.evaluate("getComputedStyle(document.body).backgroundColor");
          expect(background).toBe(
            colorScheme === "light" ? "rgb(238, 241, 246)" : "rgb(15, 19, 25)",
          );
          if (SHOTS !== undefined) {
            mkdirSync(SHOTS, { recursive: true });
            await tab.screenshot({
              path: path.join(SHOTS, `provider-${state}-${device}-${colorScheme}.png`),
              fullPage: true,
            });
          }
          await tab.evaluate(AXE);
          const { violations, passes } = await tab.evaluate<AxeResult>("axe.run()");
          expect(
            violations.map(({ id, nodes }) => ({
              id,
              nodes: nodes.map((node) => node.failureSummary),
            })),
          ).toEqual([]);
          expect(passes.map(({ id }) => id)).toContain("color-contrast");
          // A browser reports an error status on its console.
          expect(complaints.filter((text) => state !== "problem" || !text.includes("400"))).toEqual(
            [],
          );
        },
      );
    });

    it("redirects back to the application with the keyboard alone, by the choice of a user and by Cancel", async () => {
      const tab = await browser.newPage();
      try {
        await tab.goto(addressOf("choice"));
        await tab.keyboard.press("Tab");
        expect(await tab.evaluate("getComputedStyle(document.activeElement).outlineStyle")).toBe(
          "solid",
        );
        await tab.keyboard.press("Enter");
        await tab.getByRole("button", { name: "Allow" }).press("Enter");
        await expect
          .poll(() => tab.url())
          .toMatch(new RegExp(`^${application}/idpauth/login-callback\\?code=.*&state=a-state`));
        await tab.goto(addressOf("choice"));
        await tab.getByRole("button", { name: "Cancel" }).press("Enter");
        await expect
          .poll(() => tab.url())
          .toMatch(/\/idpauth\/login-callback\?error=access_denied/);
      } finally {
        await tab.close();
      }
    });
  },
);
