import { expect } from "vitest";
import { userOf, type ConformanceModule } from "./relying-party.js";
import { comeBack, endSession, IGNORED_CLAIM, send, startLogout } from "./rp-logout.js";

export default {
  module: "oidcc-client-test-rp-backchannel-rpinitlogout",
  plans: ["oidcc-client-back-channel-logout-rp-basic"],
  demands: "accept a logout token during the logout at the provider with 200 and no-store, and handle the way back",
  async run(stage) {
    // The suite's tokens have no `typ`, which the specification only recommends.
    for (const header of [{}, { typ: undefined }]) {
      const logout = await startLogout(stage, { backchannelLogout: true, allowUntypedLogoutTokens: "typ" in header });
      const { application, other } = logout;
      const token = application.provider.logoutToken({ header, claims: IGNORED_CLAIM });
      const { response } = await endSession(logout);
      expect((await send(application, token)).status).toBe(200);
      expect(await userOf(other)).toBeNull();
      await comeBack(logout, response.location ?? "");
    }
    return "200 with no-store, with and without typ (allowUntypedLogoutTokens); the user's other session of this sid ends, and the browser comes back";
  },
} satisfies ConformanceModule;
