import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installFramework } from "../../scripts/framework-install.mjs";
import { chromiumForTests, launchChromium } from "../support/chromium.js";
import { bundle, startPageServer, type PageServer } from "./page-server.js";

const executablePath = await chromiumForTests();
type Status = "signed-in" | "signed-out" | "loading";

const EIGHTEEN = path.resolve(import.meta.dirname, "../recipes/react-18");
const VERSIONS = [
  ["19", undefined],
  ...((await installFramework(EIGHTEEN)) ? [["18", EIGHTEEN] as const] : []),
] as const;

it.skipIf(VERSIONS.length === 1)("the types are correct with those of React 18, too", async () => {
  const compiler = path.resolve(import.meta.dirname, "../../node_modules/typescript/bin/tsc");
  await promisify(execFile)(process.execPath, [compiler, "-p", EIGHTEEN]);
});

describe.skipIf(executablePath === undefined).each(VERSIONS)(
  "hydration with React %s",
  (version, react) => {
    let browser: Browser;
    let server: PageServer;
    /** Renders the application as a server does. */
    let render: (state: Status) => string;

    beforeAll(async () => {
      server = await startPageServer(await bundle("page/browser.ts", react));
      const code = await bundle("page/server.ts", react);
      ({ render } = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as {
        render: typeof render;
      });
      browser = await launchChromium(executablePath!);
    });
    afterAll(async () => {
      await browser.close();
      await server.close();
    });

    /**
     * Opens the page that the server rendered, and hydrates it with the initial state after another
     * state has arrived.
     */
    async function hydrate(initial: Status, before: Status) {
      const tab = await browser.newPage();
      const complaints: string[] = [];
      tab.on("console", (message) => {
        if (!message.text().includes("Download the React DevTools"))
          complaints.push(message.text());
      });
      tab.on("pageerror", (error) => complaints.push(error.message));
      await tab.goto(server.url(render(initial)));
      const served = await tab.locator("#greeting").elementHandle();
      await tab.evaluate(
        ([one, other]) => fixture.start(fixture.states[one], fixture.states[other]),
        [initial, before] as const,
      );
      return { tab, complaints, served: served };
    }

    it.each(["signed-in", "signed-out", "loading"] as const)(
      "of %s keeps what the server rendered, and the console is silent",
      async (status) => {
        const { tab, complaints, served } = await hydrate(status, status);
        await expect.poll(() => tab.evaluate(() => fixture.rendered.length)).toBeGreaterThan(0);
        expect(await served.evaluate((element) => element.isConnected)).toBe(true);
        expect(await tab.evaluate(() => fixture.version)).toMatch(new RegExp(`^${version}\\.`));
        expect(complaints).toEqual([]);
        await tab.close();
      },
    );

    it("of <idpauth-warning> keeps the element, which warns and acts", async () => {
      const { tab, complaints } = await hydrate("signed-in", "signed-in");
      const panel = tab.getByRole("region", { name: "Your session is about to end" });
      await tab.evaluate(() => fixture.client.set(fixture.signedIn({ idle: 100 })));
      expect(await panel.count()).toBe(0);
      await tab.evaluate(() => fixture.client.set(fixture.signedIn({ idle: 80 })));
      await panel.getByRole("button", { name: "Stay signed in" }).click();
      expect(await tab.evaluate(() => fixture.client.calls)).toEqual(["keepAlive"]);
      await tab.evaluate(() => fixture.client.settle(fixture.signedIn({ idle: 3600 })));
      await panel.waitFor({ state: "hidden" });
      expect(complaints).toEqual([]);
      await tab.close();
    });

    it.each([
      ["signed-in", "signed-out", "#out"],
      ["loading", "signed-in", "#in"],
    ] as const)(
      "of %s starts with the initial state although the state is already %s, then shows the new one",
      async (initial, before, shown) => {
        const { tab, complaints, served } = await hydrate(initial, before);
        await tab.locator(shown).waitFor();
        expect(await tab.evaluate(() => fixture.rendered[0]?.status)).toBe(initial);
        expect(await served.evaluate((element) => element.isConnected)).toBe(true);
        expect(complaints).toEqual([]);
        await tab.close();
      },
    );
  },
);
