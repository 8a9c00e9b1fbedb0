// The suite's plans that idpauth has to pass, and the reason for each module that it doesn't pass.
import { FAPI_PLANS } from "./fapi-plans.mjs";

/**
 * @typedef {object} Plan
 * @property {string} key what `npm run conformance -- KEY` takes
 * @property {string} title
 * @property {string} name the suite's
 * @property {Record<string, string>} variant what the suite asks its user to choose
 * @property {"client_secret_basic" | "client_secret_post" | "private_key_jwt" | "tls_client_auth"} method
 *   how the client authenticates
 * @property {boolean} [showsCertificate] whether the client has a certificate for mutual TLS
 * @property {boolean} [signsRequests] whether the client has a key for its request objects
 * @property {{ certificate: boolean }} [accounts] whether the user's accounts are read after the
 *   sign-in, at the suite's API, and whether that request shows the client's certificate
 * @property {Record<string, string>} [settings] the application's, beside those that every plan needs
 * @property {readonly LogoutChannel[]} [registers] what the client registers for its logout
 * @property {boolean} [expires] whether tokens expire before they are refreshed
 * @property {Record<string, Expected>} [expected] by module; default: `PASSED`
 *
 * @typedef {"postLogout" | "backChannel" | "frontChannel"} LogoutChannel
 *
 * @typedef {object} Expected
 * @property {string} result the suite's own
 * @property {string} reason
 */

/** @type {Record<"basic" | "post" | "key", Plan["method"]>} */
const METHODS = {
  basic: "client_secret_basic",
  post: "client_secret_post",
  key: "private_key_jwt",
};

const CODE = {
  client_registration: "static_client",
  request_type: "plain_http_request",
  response_type: "code",
  response_mode: "default",
};

/** @type {Record<string, Expected>} */
const UNSIGNED = {
  "oidcc-client-test-idtoken-sig-none": {
    result: "SKIPPED",
    reason: "idpauth rejects an unsigned ID token, which the suite permits.",
  },
};

/**
 * The application's, by module.
 *
 * @type {Record<string, Record<string, string>>}
 */
export const MODULE_SETTINGS = {
  // The module ends when the client fetches the keys, and counts a later request as an error.
  "oidcc-client-test-discovery-jwks-uri-keys": {
    IDP_PROVIDER_METADATA: '{ "userinfo_endpoint": "https://127.0.0.1:9/" }',
  },
};

/** @type {readonly Plan[]} */
export const PLANS = [
  {
    key: "basic",
    title: "Basic",
    name: "oidcc-client-basic-certification-test-plan",
    // The plan itself chooses the rest.
    variant: without(CODE, "response_type", "response_mode"),
    method: "client_secret_basic",
    expected: UNSIGNED,
  },
  {
    key: "form-post",
    title: "Form Post Basic",
    name: "oidcc-client-formpost-basic-certification-test-plan",
    variant: without(CODE, "response_type", "response_mode"),
    method: "client_secret_basic",
    settings: { IDP_RESPONSE_MODE: "form_post" },
    expected: UNSIGNED,
  },
  ...methods(["post", "basic", "key"], {
    key: "config",
    title: "Config",
    name: "oidcc-client-config-certification-test-plan",
    variant: without(CODE, "response_type"),
    expected: UNSIGNED,
  }),
  {
    key: "third-party",
    title: "Third-party-initiated login",
    name: "oidcc-client-test-3rd-party-init-login-test-plan",
    // With a client that is registered beforehand, the module sends the user away while it is still
    // being set up, and fails on that.
    ...asks("client_secret_basic", { ...CODE, client_registration: "dynamic_client" }),
  },
  ...methods(["basic", "post", "key"], {
    key: "refresh",
    title: "Refresh tokens",
    name: "oidcc-client-refreshtoken-test-plan",
    variant: CODE,
  }),
  {
    key: "rp-logout",
    title: "RP-initiated logout",
    name: "oidcc-client-rp-initiated-logout-rp-basic",
    ...asks("client_secret_basic", without(CODE, "response_type")),
    // The suite's modules demand one of the channels.
    registers: ["postLogout", "backChannel"],
  },
  ...methods(["basic", "key"], {
    key: "back-channel",
    title: "Back-channel logout",
    name: "oidcc-client-back-channel-logout-rp-basic",
    variant: without(CODE, "response_type"),
    registers: ["postLogout", "backChannel"],
  }),
  {
    key: "front-channel",
    title: "Front-channel logout",
    name: "oidcc-client-front-channel-logout-rp-basic",
    ...asks("client_secret_basic", without(CODE, "response_type")),
    registers: ["postLogout", "frontChannel"],
    expected: {
      "oidcc-client-test-rp-frontchannel-rpinitlogout": {
        result: "REVIEW",
        reason: "The suite always has a person look at the log.",
      },
    },
  },
  {
    key: "comprehensive",
    title: "Comprehensive, `response_type=code`",
    name: "oidcc-client-test-plan",
    ...asks("client_secret_basic", CODE),
    expected: {
      ...UNSIGNED,
      "oidcc-client-test-userinfo-bearer-body": {
        result: "FAILED",
        reason:
          "idpauth sends the access token in a header, which the specification recommends, never in the body.",
      },
      "oidcc-client-test-discovery-webfinger-acct": {
        result: "UNKNOWN",
        reason:
          "idpauth's issuer is a setting. It doesn't look one up by WebFinger, for which the module waits.",
      },
      "oidcc-client-test-discovery-webfinger-url": {
        result: "UNKNOWN",
        reason:
          "idpauth's issuer is a setting. It doesn't look one up by WebFinger, for which the module waits.",
      },
      "oidcc-client-test-distributed-claims": {
        result: "UNKNOWN",
        reason: "idpauth doesn't fetch distributed claims, for which the module waits.",
      },
    },
  },
  ...FAPI_PLANS,
  {
    key: "refresh-expired",
    title: "Refresh tokens, after the ID token has expired",
    name: "oidcc-client-refreshtoken-test-plan",
    ...asks("client_secret_basic", CODE),
    expires: true,
  },
];

/**
 * @param {readonly ("basic" | "post" | "key")[]} names
 * @param {Omit<Plan, "method">} plan
 * @returns {Plan[]} the plan with each of these methods
 */
function methods(names, plan) {
  return names.map((name) => ({
    ...plan,
    ...asks(METHODS[name], plan.variant),
    key: `${plan.key}-${name}`,
  }));
}

/**
 * @param {Plan["method"]} method
 * @param {Record<string, string>} variant
 */
function asks(method, variant) {
  return { method, variant: { client_auth_type: method, ...variant } };
}

/**
 * @param {Record<string, string>} variant
 * @param {readonly string[]} names
 * @returns {Record<string, string>}
 */
function without(variant, ...names) {
  return Object.fromEntries(Object.entries(variant).filter(([name]) => !names.includes(name)));
}
