import { expect } from "vitest";
import { signIn, userOf, type ConformanceModule } from "./relying-party.js";

export default {
  module: "fapi2-security-profile-final-client-test-ensure-authorization-response-with-invalid-missing-state-fails",
  plans: ["fapi2-security-profile-final-client-test-plan"],
  demands: "refuse an authorization response without state",
  async run(stage) {
    const application = await stage.start();
    application.provider.authorizationResponse = (params) => {
      params.delete("state");
    };
    const { browser, callback } = await signIn(application);
    expect(callback.status).toBe(400);
    expect(await userOf(browser)).toBeNull();
    expect(application.provider.requestsTo("token")).toEqual([]);
    return "400 page, no token request, no session";
  },
} satisfies ConformanceModule;
