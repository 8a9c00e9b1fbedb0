import { expect } from "vitest";
import { signIn, userOf, type ConformanceModule } from "./relying-party.js";

export default {
  module: "oidcc-client-test-userinfo-invalid-sub",
  plans: ["oidcc-client-basic-certification-test-plan"],
  demands: "ignore a userinfo response whose sub differs from the ID token's sub",
  async run(stage) {
    const application = await stage.start();
    application.provider.userinfoResponse = (claims) => ({ ...claims, sub: "somebody-else", email: "eve@example.com", name: "Eve" });
    const { browser, callback } = await signIn(application);
    expect(callback.status).toBe(302);
    expect(application.provider.requestsTo("userinfo")).toHaveLength(1);
    expect(await userOf(browser)).toEqual({ email: null, name: null, picture: null });
    expect((await browser.get("/idpauth/")).text).not.toMatch(/eve/i);
    return "idpauth discarded the response: the user of the ID token is signed in, without email, name and picture";
  },
} satisfies ConformanceModule;
