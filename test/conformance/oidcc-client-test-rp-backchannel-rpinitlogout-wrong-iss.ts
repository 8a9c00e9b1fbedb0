import type { ConformanceModule } from "./relying-party.js";
import { expectLogoutTokenRefused } from "./rp-logout.js";

export default {
  module: "oidcc-client-test-rp-backchannel-rpinitlogout-wrong-iss",
  plans: ["oidcc-client-back-channel-logout-rp-basic"],
  demands: "refuse a logout token whose iss is not the provider with 400",
  async run(stage) {
    return expectLogoutTokenRefused(stage, ({ provider }) => ({ claims: { iss: `${provider.issuer}INVALID` } }), "logout_token_iss");
  },
} satisfies ConformanceModule;
