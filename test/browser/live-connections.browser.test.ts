import { describe, expect, it } from "vitest";
import { chromiumForTests, IN_A_BROWSER } from "../support/chromium.js";
import { useStage } from "./stage.js";
import { expectUsable, PEOPLE } from "./test-user.js";

const executablePath = await chromiumForTests();

describe.skipIf(executablePath === undefined)(
  "open connections of a page, in a browser",
  IN_A_BROWSER,
  () => {
    const stage = useStage(executablePath);

    it("a page shows that its event stream and its WebSocket close when the provider ends the session", async () => {
      const { demo, user } = await stage.open();
      const tab = await user.signIn("/reports");
      await tab.getByText(/^Event stream: open, tick \d+\.$/).waitFor();
      await tab.getByText("WebSocket: connected.", { exact: true }).waitFor();

      const provider = await user.tab();
      await provider.goto(/Provider: (\S+)/.exec(demo.stdout)?.[1] ?? "");
      await provider.getByRole("button", { name: PEOPLE.ada }).click();
      await provider.getByText("The application accepted 1 of 1 logout tokens.").waitFor();

      for (const name of ["Event stream", "WebSocket"]) {
        await tab
          .getByText(`${name}: closed, because the session has ended (logged_out_at_provider).`, {
            exact: true,
          })
          .waitFor();
      }
      await expectUsable(tab);
      await tab.reload();
      expect(new URL(tab.url()).pathname).not.toBe("/reports");
    });
  },
);
