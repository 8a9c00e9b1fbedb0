import { describe, expect, it } from "vitest";
import { chromiumForTests } from "../support/chromium.js";
import { useStage } from "./stage.js";
import { choose } from "./test-user.js";

const executablePath = await chromiumForTests();

describe.skipIf(executablePath === undefined)(
  "a sign-in whose response the provider's page posts (form_post)",
  () => {
    const stage = useStage(executablePath);

    // Under localhost, the provider at 127.0.0.1 is another site.
    it.each(["127.0.0.1", "localhost"])(
      "brings the cookie to the callback's redirect: %s",
      async (name) => {
        const { origin } = (await stage.open({ responseMode: "form_post" })).user;
        const user = await stage.user(origin.replace("127.0.0.1", name));
        const posts: string[] = [];
        const tab = await user.askFor("/reports?month=10");
        tab.on("request", (request) => {
          if (request.method() === "POST" && request.url().includes("/login-callback"))
            posts.push(request.url());
        });
        await choose(tab, "grace");
        await tab.waitForURL(user.url("/reports?month=10"));
        expect(posts).toEqual([user.url("/idpauth/login-callback")]);
      },
    );
  },
);
