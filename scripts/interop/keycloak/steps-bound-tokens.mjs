// Tokens that are bound to the application: by DPoP (RFC 9449), and by its certificate (RFC 8705).
import { startBoundApi } from "./bound-api.mjs";
import { EXECUTORS, POLICY_ENV, signsInAndOut, withPolicy } from "./steps-requests.mjs";

/** @typedef {import("./keycloak.mjs").KeycloakServer} KeycloakServer */

/** How often the tokens are refreshed. */
const ROUNDS = 3;
/** Each refresh gives another refresh token, and the one before is worth nothing. */
const ROTATION = { settings: { revokeRefreshToken: true, refreshTokenMaxReuse: 0 } };
/** So that each refresh shows Keycloak the access token too. */
const USERINFO = { IDP_USERINFO: "always" };
const DPOP = {
  client: { attributes: { "dpop.bound.access.tokens": "true" } },
  env: { IDP_DPOP: "on", ...USERINFO },
};
const CERTIFICATE = {
  client: {
    method: "tls_client_auth",
    attributes: { "tls.client.certificate.bound.access.tokens": "true" },
  },
  env: USERINFO,
};

/** @type {readonly import("../servers.mjs").Step[]} */
export const BOUND_TOKEN_STEPS = [
  {
    key: "dpop",
    title:
      "With `IDP_DPOP`, users of a client with **Require DPoP bound tokens** sign in, refresh with rotation, read userinfo, and call an API, by `fetchApi` and through the proxy, that checks each proof and demands a new nonce each time; each user has one key, and no other user's. The token alone opens nothing.",
    run: (stage) =>
      withUsers(stage, { by: "dpop", application: DPOP }, (api) => {
        const [ada, grace] = [...api.keys().values()].map((keys) => [...keys]);
        if (ada?.length !== 1 || grace?.length !== 1)
          return `${ada?.length} and ${grace?.length} keys`;
        if (ada[0] === grace[0]) return "both users have the same key";
        return api.demands() > 0 ? undefined : "the API never demanded a nonce";
      }),
  },
  {
    key: "dpop-missing",
    title:
      "Without the setting, the sign-in at such a client ends on idpauth's page, nobody is signed in, and the log names `invalid_request`.",
    run: (stage) =>
      stage.withApplication({ client: DPOP.client }, async ({ newTab, origin, log }) => {
        const tab = await newTab();
        await tab.page.goto(`${origin}/guarded`);
        await stage.server.signInAtProvider(tab.page, "ada");
        await tab.page.waitForURL((url) => url.origin === origin);
        const { authenticated } = await tab.probe();
        if (authenticated === true) return "the user is signed in";
        const line = log().find(({ code }) => code === "callback_failed");
        const reason = line?.details?.["reason"];
        return reason === "invalid_request" ? undefined : `the log says ${reason}`;
      }),
  },
  {
    key: "certificate",
    title:
      "With `tls_client_auth` (**X509 Certificate**) and **OAuth 2.0 Mutual TLS Certificate Bound Access Tokens Enabled**, users sign in, refresh with rotation, read userinfo, and call an API, by `fetchApi` and through the proxy, that compares the certificate with the token's. The token alone opens nothing.",
    run: (stage) =>
      withUsers(stage, { by: "certificate", application: CERTIFICATE }, (api) => {
        const keys = new Set([...api.keys().values()].flatMap((one) => [...one]));
        return keys.size === 1 ? undefined : `${keys.size} certificates`;
      }),
  },
  ...policySteps(),
];

/** @returns {import("../servers.mjs").Step[]} */
function policySteps() {
  const key = {
    method: "private_key_jwt",
    keyAlgorithm: "ES256",
    attributes: { "token.endpoint.auth.signing.alg": "ES256" },
  };
  return [
    policyStep({
      key: "client-policy-dpop",
      title:
        "A client policy that demands DPoP besides, bound codes included, as **fapi-2-dpop-security-profile** does: sign-in, refresh and logout work.",
      executor: {
        executor: "dpop-bind-enforcer",
        configuration: {
          "auto-configure": "true",
          "enforce-authorization-code-binding-to-dpop": "true",
        },
      },
      client: key,
      env: { IDP_DPOP: "on" },
    }),
    policyStep({
      key: "client-policy-certificate",
      title:
        "A client policy that demands tokens bound to the client's certificate, as **fapi-2-security-profile** does: sign-in, refresh and logout work.",
      executor: {
        executor: "holder-of-key-enforcer",
        configuration: { "auto-configure": "true" },
      },
      client: { ...key, showsCertificate: true },
    }),
  ];
}

/**
 * @param {{ key: string, title: string, executor: object, client: Record<string, unknown>, env?: Record<string, string> }} options
 * @returns {import("../servers.mjs").Step}
 */
function policyStep({ key, title, executor, client, env = {} }) {
  return {
    key,
    title,
    async run(stage) {
      const server = await withPolicy(stage, [...EXECUTORS, executor]);
      const settings = { ...POLICY_ENV, ...env };
      return stage.withApplication({ server, client, env: settings }, signsInAndOut);
    },
  };
}

/**
 * Two users sign in, and call the API before and after each refresh.
 *
 * @param {import("../servers.mjs").Stage} stage
 * @param {{ by: "dpop" | "certificate", application: import("../application/start.mjs").ApplicationOptions }} wish
 * @param {(api: import("./bound-api.mjs").BoundApi) => string | undefined} judge
 * @returns {Promise<string | undefined>} what is wrong
 */
async function withUsers(stage, { by, application }, judge) {
  /** @type {KeycloakServer} */
  const server = await stage.server.newServer(ROTATION);
  const { keycloak, realm, issuer } = server;
  const api = await startBoundApi({
    by,
    issuer,
    jwks: `${keycloak.internalUrl}/realms/${realm.name}/protocol/openid-connect/certs`,
    certificate: keycloak.newCertificate("localhost"),
  });
  const one = {
    url: api.url,
    path: "/proxy/one/",
    ...(by === "certificate" && { certificate: true }),
  };
  const options = { apis: { one } };
  try {
    const wrong = await stage.withApplication(
      { ...application, server, options },
      async ({ newTab }) => {
        const tabs = [await newTab(), await newTab()];
        for (const [index, user] of ["ada", "grace"].entries()) await tabs[index]?.signIn(user);
        for (let round = 0; round <= ROUNDS; round += 1)
          for (const tab of tabs) {
            if (round > 0) await tab.untilExpired();
            const failed = (await calls(tab)) ?? (await stolen(server, api.newestToken()));
            if (failed !== undefined) return `after ${round} refreshes: ${failed}`;
          }
        return undefined;
      },
    );
    return wrong ?? judge(api);
  } finally {
    api.end();
    await realm.remove();
  }
}

/**
 * Calls the API by `fetchApi`, and through the proxy.
 *
 * @param {import("../application/tab.mjs").Tab} tab
 * @returns {Promise<string | undefined>} what is wrong
 */
async function calls(tab) {
  for (const path of ["/call/one", "/proxy/one/whoami"]) {
    const { status, body } = await tab.fetch(path);
    if (status !== 200) return `status ${status} at ${path}: ${body.refused ?? body.code}`;
  }
  return undefined;
}

/**
 * What somebody gets who has only the token.
 *
 * @param {KeycloakServer} server
 * @param {string} token
 * @returns {Promise<string | undefined>} what is wrong
 */
async function stolen({ keycloak, realm }, token) {
  const userinfo = `${keycloak.internalUrl}/realms/${realm.name}/protocol/openid-connect/userinfo`;
  for (const scheme of ["Bearer", "DPoP"]) {
    const { status } = await fetch(userinfo, { headers: { authorization: `${scheme} ${token}` } });
    if (status !== 401) return `status ${status} of userinfo for the token alone`;
  }
  return undefined;
}
