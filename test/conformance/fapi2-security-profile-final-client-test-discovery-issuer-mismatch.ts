import { expect } from "vitest";
import { userOf, type ConformanceModule } from "./relying-party.js";

export default {
  module: "fapi2-security-profile-final-client-test-discovery-issuer-mismatch",
  plans: ["fapi2-security-profile-final-client-test-plan"],
  demands: "refuse a discovery document of another issuer",
  async run(stage) {
    const application = await stage.start();
    application.provider.discoveryDocument = (document) => ({ ...document, issuer: "https://op.evil.example" });
    const browser = application.browser();
    const login = await browser.get("/idpauth/login/");
    expect(login.status).toBe(503);
    expect(await userOf(browser)).toBeNull();
    expect(application.provider.requests.map(({ endpoint }) => endpoint)).toEqual(["discovery"]);
    expect(application.log.filter(({ level }) => level === "error").map(({ details }) => details?.["reason"])).toEqual(["issuer_mismatch"]);
    return "503, issuer_mismatch in the log; no user was sent to the authorization endpoint";
  },
} satisfies ConformanceModule;
