import type { ConformanceModule } from "./relying-party.js";
import { expectLogoutTokenRefused } from "./rp-logout.js";

export default {
  module: "oidcc-client-test-rp-backchannel-rpinitlogout-no-event",
  plans: ["oidcc-client-back-channel-logout-rp-basic"],
  demands: "refuse a logout token without events with 400",
  async run(stage) {
    return expectLogoutTokenRefused(stage, () => ({ claims: { events: undefined } }), "logout_token_events");
  },
} satisfies ConformanceModule;
