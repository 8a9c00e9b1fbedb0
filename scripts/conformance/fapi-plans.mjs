// The suite's plans for FAPI 2.0: each way to authenticate the client, with each way to bind its tokens.

/** What every plan here has in common. The plans themselves choose the rest. */
const FAPI = {
  fapi_profile: "plain_fapi",
  fapi_client_type: "oidc",
  authorization_request_type: "simple",
};
const SECURITY = "fapi2-security-profile-final-client-test-plan";
const SIGNING = "fapi2-message-signing-final-client-test-plan";
const BOUND = { dpop: "DPoP", mtls: "mutual TLS" };
const AUTHENTICATED = { key: "`private_key_jwt`", mtls: "`tls_client_auth`" };

/** @typedef {import("./plans.mjs").Plan} Plan */

/** @type {readonly Plan[]} */
export const FAPI_PLANS = [
  fapi({ client: "key", bound: "dpop" }),
  fapi({ client: "key", bound: "mtls" }),
  fapi({ client: "mtls", bound: "dpop" }),
  fapi({ client: "mtls", bound: "mtls" }),
  fapi({ client: "key", bound: "dpop", signs: ["requests", "responses"] }),
  fapi({ client: "mtls", bound: "mtls", signs: ["requests", "responses"] }),
  fapi({ client: "key", bound: "dpop", signs: ["requests"] }),
  fapi({ client: "key", bound: "mtls", signs: ["responses"] }),
];

/**
 * @param {object} choice
 * @param {"key" | "mtls"} choice.client how it authenticates
 * @param {"dpop" | "mtls"} choice.bound what its tokens are bound by
 * @param {readonly ("requests" | "responses")[]} [choice.signs] JAR, JARM; default: neither
 * @returns {Plan}
 */
function fapi({ client, bound, signs = [] }) {
  const isSigned = signs.includes("requests");
  const isJarm = signs.includes("responses");
  const names = [...(isSigned ? ["jar"] : []), ...(isJarm ? ["jarm"] : [])];
  const profile = names.length === 0 ? "Security Profile" : "Message Signing";
  const how = `${AUTHENTICATED[client]} and ${BOUND[bound]}`;
  const signed = names.map((name) => name.toUpperCase()).join(" and ");
  return {
    key: ["fapi2", client, bound, ...names].join("-"),
    title: `FAPI 2.0 ${profile}, ${how}${signed === "" ? "" : `, with ${signed}`}`,
    name: names.length === 0 ? SECURITY : SIGNING,
    variant: {
      client_auth_type: client === "key" ? "private_key_jwt" : "mtls",
      sender_constrain: bound,
      ...FAPI,
      // The plan of the security profile chooses these itself.
      ...(names.length > 0 && {
        fapi_request_method: isSigned ? "signed_non_repudiation" : "unsigned",
        fapi_response_mode: isJarm ? "jarm" : "plain_response",
      }),
    },
    method: client === "key" ? "private_key_jwt" : "tls_client_auth",
    showsCertificate: client === "mtls" || bound === "mtls",
    signsRequests: isSigned,
    accounts: { certificate: bound === "mtls" },
    settings: {
      IDP_FAPI: "2",
      IDP_PUSHED_REQUESTS: "always",
      ...(bound === "dpop" && { IDP_DPOP: "true" }),
      ...(isSigned && { IDP_SIGNED_REQUESTS: "always" }),
      ...(isJarm && { IDP_RESPONSE_MODE: "jwt" }),
    },
  };
}
