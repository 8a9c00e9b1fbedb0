// The parts of Ory Hydra's admin API that the login application and the steps use.
import { randomBytes } from "node:crypto";
import { eventually } from "../application/tab.mjs";

/**
 * Resolves with the JSON, or with undefined if there is none. Rejects if the status isn't 2xx.
 *
 * @typedef {(method: string, resource: string, body?: object) => Promise<any>} Call
 *
 * @typedef {object} HydraClientWish
 * @property {string} origin of the application
 * @property {"client_secret_post" | "client_secret_basic" | "private_key_jwt"} [method]
 * @property {string} [clientId] default: Hydra chooses it
 * @property {string} [secret] default: a random one
 * @property {{ keys: object[] }} [jwks] the public keys, for private_key_jwt
 */

const SCOPE = "openid email profile offline_access";
const SIGNING_KEYS = "/admin/keys/hydra.openid.id-token";
/** Seconds until Hydra must be ready. */
const READY_SECONDS = 30;

/** @param {string} origin of the admin API */
export function createAdmin(origin) {
  /** @type {Call} */
  async function call(method, resource, body) {
    const isForm = body instanceof URLSearchParams;
    const response = await fetch(`${origin}${resource}`, {
      method,
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
      headers: isForm ? {} : { "content-type": "application/json" },
    });
    if (!response.ok)
      throw new Error(
        `Hydra's admin API answers ${response.status} to ${method} ${resource.split("?")[0]}`,
      );
    return response.status === 204 ? undefined : response.json();
  }

  return {
    call,
    isReady: () =>
      eventually(
        () =>
          call("GET", "/health/ready").then(
            () => true,
            () => false,
          ),
        READY_SECONDS,
      ),
    version: async () => String((await call("GET", "/version")).version).replace(/^v/, ""),
    newClient: (/** @type {HydraClientWish} */ wish) => newClient(call, wish),
    /** Whether Hydra still accepts a token. @param {string} token @returns {Promise<boolean>} */
    isActive: async (token) =>
      (await call("POST", "/admin/oauth2/introspect", new URLSearchParams({ token }))).active,
    /**
     * Revokes a user's consent for a client, and with it the tokens.
     *
     * @param {{ subject: string, client: string }} consent
     */
    revokeConsent: (consent) =>
      call(
        "DELETE",
        `/admin/oauth2/auth/sessions/consent?${new URLSearchParams(consent).toString()}`,
      ),
    /** Creates a key that signs ID tokens from then on. */
    newSigningKey: () =>
      call("POST", SIGNING_KEYS, {
        alg: "RS256",
        use: "sig",
        kid: randomBytes(8).toString("hex"),
      }),
    /** @param {string} kid */
    removeSigningKey: (kid) => call("DELETE", `${SIGNING_KEYS}/${kid}`),
  };
}

/**
 * Registers a client. Returns the application's settings, except the issuer.
 *
 * @param {Call} call
 * @param {HydraClientWish} wish
 * @returns {Promise<Record<string, string>>}
 */
async function newClient(call, { origin, method = "client_secret_post", clientId, ...wish }) {
  const isKey = method === "private_key_jwt";
  const secret = wish.secret ?? randomBytes(24).toString("base64url");
  const endpoints = `${origin}/idpauth`;
  const { client_id } = await call("POST", "/admin/clients", {
    ...(clientId !== undefined && { client_id: clientId }),
    ...(isKey ? { jwks: wish.jwks } : { client_secret: secret }),
    token_endpoint_auth_method: method,
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    scope: SCOPE,
    redirect_uris: [`${endpoints}/login-callback`],
    post_logout_redirect_uris: [`${endpoints}/logout-callback`],
    backchannel_logout_uri: `${endpoints}/backchannel-logout`,
    backchannel_logout_session_required: true,
    frontchannel_logout_uri: `${endpoints}/frontchannel-logout`,
    frontchannel_logout_session_required: true,
  });
  return {
    IDP_CLIENT_ID: client_id,
    ...(!isKey && { IDP_CLIENT_SECRET: secret, IDP_TOKEN_ENDPOINT_AUTH_METHOD: method }),
    SCOPE,
  };
}
