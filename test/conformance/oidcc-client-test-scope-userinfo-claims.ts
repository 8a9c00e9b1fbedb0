import { expect } from "vitest";
import { expectSignedIn, userOf, type ConformanceModule } from "./relying-party.js";

export default {
  module: "oidcc-client-test-scope-userinfo-claims",
  plans: ["oidcc-client-basic-certification-test-plan"],
  demands: "request claims by scopes, and read them from userinfo",
  async run(stage) {
    const application = await stage.start({ scope: ["openid", "email", "profile"] });
    const { browser } = await expectSignedIn(application);
    expect(application.provider.requestsTo("authorize")[0]?.query.get("scope")).toBe("openid email profile");
    expect(await userOf(browser)).toEqual({
      email: "ada@example.com",
      name: "Ada Lovelace",
      picture: "https://pictures.example.com/ada.png",
    });
    return "scope openid email profile; email, name and picture come from userinfo";
  },
} satisfies ConformanceModule;
