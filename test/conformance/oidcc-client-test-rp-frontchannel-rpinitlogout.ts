import { expect } from "vitest";
import { userOf, type ConformanceModule } from "./relying-party.js";
import { comeBack, endSession, expectFrameEndsSession, startLogout } from "./rp-logout.js";

export default {
  module: "oidcc-client-test-rp-frontchannel-rpinitlogout",
  plans: ["oidcc-client-front-channel-logout-rp-basic"],
  demands: "end the session in the frame of the provider's logout page, and handle the way back (frontchannel_logout_session_required)",
  async run(stage) {
    const logout = await startLogout(stage, { frontchannelLogout: true });
    const { application, other } = logout;
    application.provider.settings.frontchannelLogoutUri = `${application.origin}/idpauth/frontchannel-logout`;
    const { response } = await endSession(logout);
    const text = response.text.replaceAll("&#38;", "&");
    const [, frame = ""] = /<iframe src="([^"]*)"/.exec(text) ?? [];
    const [, next = ""] = /http-equiv="refresh" content="0; url=([^"]*)"/.exec(text) ?? [];
    expect(await userOf(other)).not.toBeNull();
    await expectFrameEndsSession(logout, frame);
    await comeBack(logout, next);
    return "an empty page that the provider's origin alone may frame; the session of the sid ends without cookies, and the browser comes back";
  },
} satisfies ConformanceModule;
