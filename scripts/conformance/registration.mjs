// What the client and the suite have to know of each other, for one plan.
import { randomBytes } from "node:crypto";
import { newClientKey } from "../interop/client-key.mjs";
import { createAuthority, createSigned } from "./tls-front.mjs";

/** The suite's FAPI modules demand that the client asks for what it has registered. */
const SCOPE = "openid email profile";

/**
 * @typedef {object} Registration
 * @property {object} config what the suite's plan is created with
 * @property {object} metadata what the client registers with, if the plan has it register dynamically
 * @property {Record<string, string>} env the application's settings, except for the issuer
 */

/**
 * @param {import("./plans.mjs").Plan} plan
 * @param {string} origin the application's
 * @returns {Registration}
 */
export function registerClient(plan, origin) {
  const { key, method, registers = [], settings = {} } = plan;
  const client_id = `idpauth-${key}`;
  const at = (/** @type {string} */ path) => `${origin}/idpauth/${path}`;
  const credentials = newCredentials(plan, client_id);
  const has = (/** @type {import("./plans.mjs").LogoutChannel} */ channel) =>
    registers.includes(channel);
  return {
    config: {
      alias: client_id,
      description: `idpauth, ${plan.title}`,
      client: {
        client_id,
        client_name: "idpauth",
        scope: SCOPE,
        redirect_uri: at("login-callback"),
        initiate_login_uri: at("login/"),
        ...credentials.registered,
        ...(has("postLogout") && { post_logout_redirect_uri: at("logout-callback") }),
        ...(has("backChannel") && { backchannel_logout_uri: at("backchannel-logout") }),
        ...(has("frontChannel") && {
          frontchannel_logout_uri: at("frontchannel-logout"),
          // Without it, the suite doesn't say whose session it is.
          frontchannel_logout_session_required: true,
        }),
      },
    },
    metadata: {
      client_name: "idpauth",
      redirect_uris: [at("login-callback")],
      initiate_login_uri: at("login/"),
      response_types: ["code"],
      grant_types: ["authorization_code"],
      token_endpoint_auth_method: method,
    },
    env: {
      BASE_URL: origin,
      // The suite makes RSA keys within a request, which takes seconds on a busy machine.
      IDP_HTTP_TIMEOUT: "30",
      SECRET_KEY: randomBytes(32).toString("base64url"),
      SCOPE,
      IDP_CLIENT_ID: client_id,
      ...credentials.env,
      ...(has("postLogout") && { IDP_LOGOUT_AT_PROVIDER: "true" }),
      ...(has("backChannel") && { IDP_BACKCHANNEL_LOGOUT: "true" }),
      ...(has("frontChannel") && { IDP_FRONTCHANNEL_LOGOUT: "true" }),
      ...settings,
    },
  };
}

/**
 * @param {import("./plans.mjs").Plan} plan
 * @param {string} name of the client
 * @returns {{ registered: object, env: Record<string, string> }} the half that the suite gets, and the
 *   application's settings
 */
function newCredentials({ method, showsCertificate = false, signsRequests = false }, name) {
  const key = method === "private_key_jwt" || signsRequests ? newClientKey("ES256") : undefined;
  const certificate = showsCertificate ? createSigned(name, createAuthority()) : undefined;
  const secret = randomBytes(32).toString("base64url");
  const hasSecret = method === "client_secret_basic" || method === "client_secret_post";
  return {
    registered: {
      ...(hasSecret && { client_secret: secret }),
      ...(key !== undefined && { jwks: { keys: [key.publicKey] } }),
      ...(certificate !== undefined && { certificate: certificate.cert }),
    },
    env: {
      ...(hasSecret && { IDP_CLIENT_SECRET: secret }),
      ...(key !== undefined && { IDP_PRIVATE_KEY: key.setting }),
      ...(certificate !== undefined && {
        IDP_CLIENT_CERTIFICATE: certificate.cert,
        IDP_CLIENT_CERTIFICATE_KEY: certificate.key,
      }),
      // A private key alone is for private_key_jwt.
      ...(method !== "private_key_jwt" && { IDP_TOKEN_ENDPOINT_AUTH_METHOD: method }),
    },
  };
}

/**
 * @param {{ client_id: string, client_secret: string }} registered what the suite responded
 * @returns {Record<string, string>} the application's settings
 */
export function credentialsOf({ client_id, client_secret }) {
  return { IDP_CLIENT_ID: client_id, IDP_CLIENT_SECRET: client_secret };
}
