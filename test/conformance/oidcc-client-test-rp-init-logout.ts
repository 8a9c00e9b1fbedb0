import { expect } from "vitest";
import { userOf, type ConformanceModule } from "./relying-party.js";
import { comeBack, endSession, IGNORED_CLAIM, send, startLogout } from "./rp-logout.js";

export default {
  module: "oidcc-client-test-rp-init-logout",
  plans: ["oidcc-client-rp-initiated-logout-rp-basic"],
  demands: "end the provider's session with id_token_hint, post_logout_redirect_uri and state, and handle the way back",
  async run(stage) {
    const logout = await startLogout(stage, { backchannelLogout: true });
    const { application, other } = logout;
    const token = application.provider.logoutToken({ claims: IGNORED_CLAIM });
    const { response, state } = await endSession(logout);
    expect((await send(application, token)).status).toBe(200);
    const back = new URL(response.location ?? "");
    expect(back.searchParams.get("state")).toBe(state);

    await comeBack(logout, back);
    expect(await userOf(other)).toBeNull();
    return "end_session_endpoint with all three; the way back with this state leads to the index page";
  },
} satisfies ConformanceModule;
