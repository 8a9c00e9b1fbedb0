import { describe, expect, it } from "vitest";
import type { TestApplication } from "./application.js";
import {
  expectClosed,
  openedBy,
  PATIENCE,
  showsHeading,
  type BrowserUser,
  type Tab,
} from "./browser.js";
import type { Browsing } from "./scenarios.js";

const ATTEMPT = "attempt-0123456789";

/**
 * A page without the client, which signs in in a new window. `heard` collects the messages of that
 * window.
 */
async function frontEnd(user: BrowserUser, application: TestApplication): Promise<Tab> {
  application.askFirst();
  const tab = await user.open(`${application.origin}/other`);
  await tab.evaluate(`(() => {
    window.heard = [];
    window.channel = new BroadcastChannel("idpauth:/idpauth/");
    channel.onmessage = ({ data }) => { heard.push(data); channel.postMessage({ type: "received", attempt: data.attempt }); };
    document.body.innerHTML = '<input id="draft"><button>Sign in</button>';
    document.querySelector("button").onclick = () => { window.popup = open("/idpauth/login/?scheme=PRESERVE_ORIGIN_QP&origin_url=" + encodeURIComponent(origin + "/idpauth/popup?attempt=${ATTEMPT}")); };
  })()`);
  await tab.fill("#draft", "half a sentence");
  return tab;
}

export function popupScenarios(browsing: Browsing): void {
  describe("signing in in a window of its own", () => {
    it("keeps the page: the window notifies it and closes", async () => {
      const user = await browsing.user();
      const tab = await frontEnd(user, browsing.application);
      const popup = await openedBy(user, () => tab.click("button"));
      await showsHeading(popup, "Who is signing in?");
      await popup.click("a");
      await expectClosed(user, popup);
      // As text: the drivers of the browsers differ in what they make of undefined.
      expect(await tab.evaluate("JSON.stringify(heard)")).toBe(
        JSON.stringify([{ type: "signed-in", attempt: ATTEMPT }]),
      );
      expect(await tab.evaluate("document.querySelector('#draft').value")).toBe("half a sentence");
      expect(
        await tab.evaluate("fetch('/idpauth/session').then((response) => response.json())"),
      ).toMatchObject({ authenticated: true });
    });

    it("if the page is gone, the window stays and redirects to the application", async () => {
      const user = await browsing.user();
      const tab = await frontEnd(user, browsing.application);
      const popup = await openedBy(user, () => tab.click("button"));
      // WebKit's driver hangs if a page closes while the window that it opened is loading.
      await showsHeading(popup, "Who is signing in?");
      await tab.close();
      await popup.click("a");
      await showsHeading(popup, "You are signed in");
      await popup.click("main a.button");
      await expect.poll(() => popup.evaluate("location.pathname"), PATIENCE).toBe("/idpauth/");
    });
  });
}
