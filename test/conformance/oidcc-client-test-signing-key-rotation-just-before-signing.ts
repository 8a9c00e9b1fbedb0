import { expect } from "vitest";
import { expectSignedIn, userOf, type ConformanceModule } from "./relying-party.js";

export default {
  module: "oidcc-client-test-signing-key-rotation-just-before-signing",
  plans: ["oidcc-client-config-certification-test-plan"],
  demands: "fetch the keys again if an unknown key has signed an ID token",
  async run(stage) {
    const application = await stage.start();
    await expectSignedIn(application);
    expect(application.provider.requestsTo("jwks")).toHaveLength(1);
    const browser = application.browser();
    const login = await browser.get("/idpauth/login/");
    const response = await browser.get(login.location ?? "");
    // Between the approval and the token request.
    await application.provider.rotateKeys({ keepOld: false });
    expect((await browser.get(response.location ?? "")).status).toBe(302);
    expect(await userOf(browser)).toMatchObject({ email: "ada@example.com" });
    expect(application.provider.requestsTo("jwks")).toHaveLength(2);
    return "signed in; the keys were fetched once more";
  },
} satisfies ConformanceModule;
