import { decodeJwt } from "jose";
import type { ConformanceModule } from "./relying-party.js";
import { expectFrameEndsSession, startLogout } from "./rp-logout.js";

export default {
  module: "oidcc-client-test-rp-frontchannel-opinitlogout",
  plans: ["oidcc-client-logout-test-plan"],
  demands: "end the session in a frame of a logout that the provider has started",
  async run(stage) {
    const logout = await startLogout(stage, { frontchannelLogout: true });
    const { provider, origin } = logout.application;
    const { sid } = decodeJwt<{ sid: string }>(provider.issued.findLast(({ kind }) => kind === "id_token")?.value ?? "");
    const parameters = new URLSearchParams({ iss: provider.issuer, sid });
    await expectFrameEndsSession(logout, `${origin}/idpauth/frontchannel-logout?${parameters.toString()}`);
    return "an empty page that the provider's origin alone may frame; every session of the sid ends without cookies";
  },
} satisfies ConformanceModule;
