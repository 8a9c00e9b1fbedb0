import type { ConformanceModule } from "./relying-party.js";
import { expectLogoutTokenRefused } from "./rp-logout.js";

export default {
  module: "oidcc-client-test-rp-backchannel-rpinitlogout-wrong-aud",
  plans: ["oidcc-client-back-channel-logout-rp-basic"],
  demands: "refuse a logout token whose aud is not the client with 400",
  async run(stage) {
    return expectLogoutTokenRefused(stage, ({ provider }) => ({ claims: { aud: `${provider.clientId}INVALID` } }), "logout_token_aud");
  },
} satisfies ConformanceModule;
