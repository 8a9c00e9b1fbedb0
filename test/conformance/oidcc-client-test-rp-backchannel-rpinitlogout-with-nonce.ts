import type { ConformanceModule } from "./relying-party.js";
import { expectLogoutTokenRefused } from "./rp-logout.js";

export default {
  module: "oidcc-client-test-rp-backchannel-rpinitlogout-with-nonce",
  plans: ["oidcc-client-back-channel-logout-rp-basic"],
  demands: "refuse a logout token with a nonce with 400",
  async run(stage) {
    return expectLogoutTokenRefused(stage, () => ({ claims: { nonce: "a-nonce" } }), "logout_token_nonce");
  },
} satisfies ConformanceModule;
