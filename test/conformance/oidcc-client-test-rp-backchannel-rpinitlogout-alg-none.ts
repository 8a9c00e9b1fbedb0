import type { ConformanceModule } from "./relying-party.js";
import { expectLogoutTokenRefused } from "./rp-logout.js";

export default {
  module: "oidcc-client-test-rp-backchannel-rpinitlogout-alg-none",
  plans: ["oidcc-client-back-channel-logout-rp-basic"],
  demands: "refuse an unsigned logout token with 400",
  async run(stage) {
    return expectLogoutTokenRefused(stage, () => ({ header: { alg: "none", kid: undefined } }), "logout_token_alg");
  },
} satisfies ConformanceModule;
