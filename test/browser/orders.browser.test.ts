import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { chromiumForTests, IN_A_BROWSER } from "../support/chromium.js";
import { useStage } from "./stage.js";
import { choose, expectUsable } from "./test-user.js";

const executablePath = await chromiumForTests();

const click = (tab: Page, name: string) => tab.getByRole("button", { name, exact: true }).click();
const says = (tab: Page, text: RegExp) =>
  tab.getByRole("status").filter({ hasText: text }).waitFor();

describe.skipIf(executablePath === undefined)(
  "the page of an API behind the application, in a browser",
  IN_A_BROWSER,
  () => {
    const stage = useStage(executablePath);

    it("reads from the API and adds to it, also after the API has refused the token and after it has required a new sign-in", async () => {
      const { user } = await stage.open();
      const tab = await user.tab();
      await tab.goto(user.url("/"));
      await tab.getByRole("link", { name: "Orders", exact: true }).click();
      await choose(tab, "ada");
      expect(tab.url()).toBe(user.url("/orders"));

      await tab.getByRole("button", { name: "List orders" }).focus();
      await tab.keyboard.press("Enter");
      await says(
        tab,
        /items: 200\. The API has \d+ orders of yours\. It got the access token \w{8}…, and no cookie\.$/,
      );
      await tab.keyboard.press("Tab");
      await tab.keyboard.type("Two gears");
      await tab.keyboard.press("Enter");
      await says(tab, /items: 201\. The API added “Two gears”\.$/);

      await click(tab, "Use a refused token");
      await says(
        tab,
        /refused: 200\. .*he API refused the token (\w{8})…, so idpauth refreshed the tokens once\. The token (?!\1)\w{8}… is the new one/,
      );

      await click(tab, "Approve the orders");
      await says(tab, /approvals: 401\. The API requires a new sign-in/);
      await expectUsable(tab);
      await tab.getByRole("link", { name: "Sign in again" }).click();
      await choose(tab, "ada");
      expect(tab.url()).toBe(user.url("/orders"));
      await says(tab, /approvals: 201\. The API approved the orders\. You signed in \d+ s ago\.$/);
      await expectUsable(tab);
    });

    it("shows the API's event stream and WebSocket, which close when the user signs out in another tab", async () => {
      const { user } = await stage.open();
      const tab = await user.signIn("/orders");
      await click(tab, "Open the event stream");
      await click(tab, "Open the WebSocket");
      await says(tab, /^Event stream: open, tick \d+\.$/);
      await says(tab, /^WebSocket: open, tick \d+\.$/);
      await click(tab, "Close the WebSocket");
      await says(tab, /^WebSocket: closed\.$/);
      await click(tab, "Open the WebSocket");
      await says(tab, /^WebSocket: open, tick \d+\.$/);
      await expectUsable(tab);

      const other = await user.tab();
      await other.goto(user.url("/idpauth/logout/"));
      await says(tab, /^Event stream: closed by the server, and refused now\.$/);
      await says(tab, /^WebSocket: closed by the server \(code 1006\)\.$/);
      // Chromium's line for a stream that is aborted.
      expect(user.complaints.splice(0)).toEqual([
        "Failed to load resource: net::ERR_INCOMPLETE_CHUNKED_ENCODING",
      ]);
      await click(tab, "List orders");
      await says(tab, /items: 401\. You're signed out\.$/);
    });
  },
);
