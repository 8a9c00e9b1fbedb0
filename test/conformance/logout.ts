import { generateKeyPairSync } from "node:crypto";
import { decodeJwt } from "jose";
import { expect } from "vitest";
import { userOf, type ConformanceModule, type Plan, type Stage } from "./relying-party.js";
import {
  comeBack,
  endSession,
  expectFrameEndsSession,
  expectLogoutTokenRefused,
  IGNORED_CLAIM,
  send,
  startLogout,
  type TokenOf,
} from "./rp-logout.js";

const RP_INITIATED: Plan = "oidcc-client-rp-initiated-logout-rp-basic";
const BACK_CHANNEL: Plan = "oidcc-client-back-channel-logout-rp-basic";

/** The way back from the provider with a changed state. */
async function expectWayBack(
  stage: Stage,
  change: (parameters: URLSearchParams) => void,
): Promise<void> {
  const logout = await startLogout(stage, { backchannelLogout: true });
  const { application, other } = logout;
  const token = application.provider.logoutToken({ claims: IGNORED_CLAIM });
  const { response, state } = await endSession(logout);
  expect((await send(application, token)).status).toBe(200);
  const back = new URL(response.location ?? "");
  expect(back.searchParams.get("state")).toBe(state);
  change(back.searchParams);
  await comeBack(logout, back);
  expect(await userOf(other)).toBeNull();
}

/** A module whose logout token the relying party must refuse. */
function tokenRefused(
  name: string,
  demands: string,
  tokenOf: TokenOf,
  reason: string,
): ConformanceModule {
  return {
    module: `oidcc-client-test-rp-backchannel-rpinitlogout-${name}`,
    plans: [BACK_CHANNEL],
    demands,
    run: (stage) => expectLogoutTokenRefused(stage, tokenOf, reason),
  };
}

/** A key that the provider publishes, of another algorithm than that of its ID tokens. */
const signedWithEs256: TokenOf = ({ provider }) => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const key = { ...publicKey.export({ format: "jwk" }), kid: "ec", use: "sig", alg: "ES256" };
  provider.jwks.publish({ keys: [...provider.jwks.document().keys, key] });
  return { header: { alg: "ES256", kid: "ec" }, key: privateKey };
};

/** Logout at the provider and by the provider. */
export const logoutModules: readonly ConformanceModule[] = [
  {
    module: "oidcc-client-test-rp-init-logout",
    plans: [RP_INITIATED],
    demands:
      "end the provider's session with id_token_hint, post_logout_redirect_uri and state, and handle the way back",
    async run(stage) {
      await expectWayBack(stage, () => undefined);
      return "end_session_endpoint with all three; the way back with this state leads to the index page";
    },
  },
  {
    module: "oidcc-client-test-rp-init-logout-no-state",
    plans: [RP_INITIATED],
    demands: "handle the way back without the state that it has sent",
    async run(stage) {
      await expectWayBack(stage, (parameters) => {
        parameters.delete("state");
      });
      return "the way back without state leads to the index page, and the user is signed out";
    },
  },
  {
    module: "oidcc-client-test-rp-init-logout-other-state",
    plans: [RP_INITIATED],
    demands: "handle the way back with another state than it has sent",
    async run(stage) {
      await expectWayBack(stage, (parameters) => {
        parameters.set("state", "another-state");
      });
      return "the way back with another state leads to the index page, and the user is signed out";
    },
  },
  {
    module: "oidcc-client-test-rp-backchannel-rpinitlogout",
    plans: [BACK_CHANNEL],
    demands:
      "accept a logout token during the logout at the provider with 200 and no-store, and handle the way back",
    async run(stage) {
      const logout = await startLogout(stage, { backchannelLogout: true });
      const { application, other } = logout;
      const logoutToken = (header: Readonly<Record<string, unknown>>) =>
        application.provider.logoutToken({ header, claims: IGNORED_CLAIM });
      const { response } = await endSession(logout);
      // The suite's own tokens have no `typ`, which the specification only recommends.
      expect((await send(application, logoutToken({ typ: undefined }))).status).toBe(400);
      expect((await send(application, logoutToken({}))).status).toBe(200);
      expect(await userOf(other)).toBeNull();
      await comeBack(logout, response.location ?? "");
      return "200 with no-store for a token with `typ: logout+jwt`; the user's other session of this sid ends, and the browser comes back. A token without this type, as the suite sends it, is refused with 400, as ASVS 10.5.5 demands; idpauth accepts it only from providers that it knows to send it";
    },
  },
  tokenRefused(
    "alg-none",
    "refuse an unsigned logout token with 400",
    () => ({ header: { alg: "none", kid: undefined } }),
    "logout_token_alg",
  ),
  tokenRefused(
    "no-event",
    "refuse a logout token without events with 400",
    () => ({ claims: { events: undefined } }),
    "logout_token_events",
  ),
  tokenRefused(
    "with-nonce",
    "refuse a logout token with a nonce with 400",
    () => ({ claims: { nonce: "a-nonce" } }),
    "logout_token_nonce",
  ),
  tokenRefused(
    "wrong-alg",
    "refuse a logout token with 400 whose algorithm is not that of ID tokens, although the provider publishes the key",
    signedWithEs256,
    "logout_token_alg",
  ),
  tokenRefused(
    "wrong-aud",
    "refuse a logout token whose aud is not the client with 400",
    ({ provider }) => ({ claims: { aud: `${provider.clientId}INVALID` } }),
    "logout_token_aud",
  ),
  tokenRefused(
    "wrong-event",
    "refuse a logout token with another event with 400",
    () => ({ claims: { events: { "http://schemas.openid.net/event/foobar": {} } } }),
    "logout_token_events",
  ),
  tokenRefused(
    "wrong-iss",
    "refuse a logout token whose iss is not the provider with 400",
    ({ provider }) => ({ claims: { iss: `${provider.issuer}INVALID` } }),
    "logout_token_iss",
  ),
  {
    module: "oidcc-client-test-rp-frontchannel-opinitlogout",
    plans: ["oidcc-client-logout-test-plan"],
    demands: "end the session in a frame of a logout that the provider has started",
    async run(stage) {
      const logout = await startLogout(stage, { frontchannelLogout: true });
      const { provider, origin } = logout.application;
      const { sid } = decodeJwt<{ sid: string }>(
        provider.issued.findLast(({ kind }) => kind === "id_token")?.value ?? "",
      );
      const parameters = new URLSearchParams({ iss: provider.issuer, sid });
      await expectFrameEndsSession(
        logout,
        `${origin}/idpauth/frontchannel-logout?${parameters.toString()}`,
      );
      return "an empty page that the provider's origin alone may frame; every session of the sid ends without cookies";
    },
  },
  {
    module: "oidcc-client-test-rp-frontchannel-rpinitlogout",
    plans: ["oidcc-client-front-channel-logout-rp-basic"],
    demands:
      "end the session in the frame of the provider's logout page, and handle the way back (frontchannel_logout_session_required)",
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
  },
];
