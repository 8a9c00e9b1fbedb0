import { expect } from "vitest";
import { expectSignedIn, untilExpired, userOf, type ConformanceModule } from "./relying-party.js";

export default {
  module: "oidcc-client-test-refresh-token",
  plans: ["oidcc-client-refreshtoken-test-plan"],
  demands: "refresh, verify the new ID token, and use the new access token",
  async run(stage) {
    const application = await stage.start({
      routes: (app, auth) => {
        app.get("/token", async (request, response) => {
          response.send((await auth.getCredentials(request))?.token ?? "none");
        });
      },
    });
    const { browser } = await expectSignedIn(application);
    const before = (await browser.get("/token")).text;
    untilExpired(application);
    expect(await userOf(browser)).toMatchObject({ email: "ada@example.com" });
    const after = (await browser.get("/token")).text;
    const { provider } = application;
    expect(provider.requestsTo("token", { grant_type: "refresh_token" })).toHaveLength(1);
    expect(after).not.toBe(before);
    const userinfo = await fetch(`${provider.issuer}/userinfo`, { headers: { authorization: `Bearer ${after}` } });
    expect([userinfo.status, await userinfo.json()]).toMatchObject([200, { sub: "ada-1815" }]);
    return "one refresh; the application has the new access token, and the provider accepts it";
  },
} satisfies ConformanceModule;
