import { expect } from "vitest";
import { userOf, type ConformanceModule } from "./relying-party.js";
import { comeBack, endSession, IGNORED_CLAIM, send, startLogout } from "./rp-logout.js";

export default {
  module: "oidcc-client-test-rp-init-logout-no-state",
  plans: ["oidcc-client-rp-initiated-logout-rp-basic"],
  demands: "handle the way back without the state that it has sent",
  async run(stage) {
    const logout = await startLogout(stage, { backchannelLogout: true });
    const { application, other } = logout;
    const token = application.provider.logoutToken({ claims: IGNORED_CLAIM });
    const { response, state } = await endSession(logout);
    expect((await send(application, token)).status).toBe(200);
    const back = new URL(response.location ?? "");
    expect(back.searchParams.get("state")).toBe(state);
    back.searchParams.delete("state");
    await comeBack(logout, back);
    expect(await userOf(other)).toBeNull();
    return "the way back without state leads to the index page, and the user is signed out";
  },
} satisfies ConformanceModule;
