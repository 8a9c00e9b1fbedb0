// Clients of LemonLDAP::NG, which its documentation calls relying parties.
import { randomBytes } from "node:crypto";
import { change } from "./configuration.mjs";

/**
 * @typedef {import("../servers.mjs").ClientWish & {
 *   id?: string, secret?: string, offline?: true, consent?: true, frontchannel?: true,
 *   options?: Record<string, string | number>, claims?: Record<string, string>,
 * }} ClientWish `options`: more ones of this client; `claims`: more exported attributes
 */

const SCOPE = "openid profile email";
/** What the portal exports, as `attribute;type;array`. */
const CLAIMS = { name: "cn", email: "mail", groups: "groups;string;always" };

/**
 * @param {ClientWish} wish
 * @param {{ issuer: string, folder: string }} portal
 * @returns {Promise<Record<string, string>>}
 */
export async function newClient(wish, { issuer, folder }) {
  const { origin, method = "client_secret_post", options, claims } = wish;
  const { offline, consent, frontchannel } = wish;
  const { id = randomBytes(6).toString("hex") } = wish;
  const { secret = randomBytes(24).toString("base64url") } = wish;
  const key = `client${randomBytes(6).toString("hex")}`;
  change(folder, (configuration) => {
    configuration["oidcRPMetaDataExportedVars"][key] = { ...CLAIMS, ...claims };
    configuration["oidcRPMetaDataOptions"][key] = optionsOf({
      DisplayName: `The application at ${origin}`,
      ClientID: id,
      ClientSecret: secret,
      RedirectUris: `${origin}/idpauth/login-callback`,
      PostLogoutRedirectUris: `${origin}/idpauth/logout-callback`,
      IDTokenSignAlg: "RS256",
      RefreshToken: 1,
      AllowOffline: offline ? 1 : 0,
      BypassConsent: consent ? 0 : 1,
      ...(frontchannel && {
        LogoutUrl: `${origin}/idpauth/frontchannel-logout`,
        LogoutType: "front",
        LogoutSessionRequired: 1,
      }),
      ...options,
    });
  });
  return {
    IDP_ISSUER: issuer,
    IDP_CLIENT_ID: id,
    IDP_CLIENT_SECRET: secret,
    IDP_TOKEN_ENDPOINT_AUTH_METHOD: method,
    SCOPE: offline ? `${SCOPE} offline_access` : SCOPE,
  };
}

/** @param {Record<string, string | number>} options */
function optionsOf(options) {
  return Object.fromEntries(
    Object.entries(options).map(([name, value]) => [`oidcRPMetaDataOptions${name}`, value]),
  );
}
