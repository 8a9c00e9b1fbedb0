// Pushed authorization requests (RFC 9126), and Keycloak's client policies.
import { checkLive } from "../steps/check-live.mjs";

const PAR_REQUIRED = { "require.pushed.authorization.requests": "true" };
const ALWAYS = { IDP_PUSHED_REQUESTS: "always" };
/**
 * For a realm with this policy. At its first sign-in, Keycloak makes a PS256 key within the token
 * request, which takes seconds on a busy machine.
 */
export const POLICY_ENV = { ...ALWAYS, IDP_HTTP_TIMEOUT: "30", IDP_LOGOUT_AT_PROVIDER: "on" };

/**
 * What Keycloak's profile `fapi-2-security-profile` demands, but for tokens that are bound to their
 * sender (`holder-of-key-enforcer`, `dpop-bind-enforcer`), which steps of their own add, and
 * `secure-client-uris`, which demands https of the application.
 */
export const EXECUTORS = [
  { executor: "confidential-client", configuration: {} },
  {
    executor: "secure-client-authenticator",
    configuration: { "allowed-client-authenticators": ["client-jwt"] },
  },
  {
    executor: "secure-signature-algorithm",
    configuration: { "default-algorithm": "PS256" },
  },
  {
    executor: "secure-signature-algorithm-signed-jwt",
    configuration: { "require-client-assertion": "true" },
  },
  { executor: "consent-required", configuration: { "auto-configure": "true" } },
  { executor: "full-scope-disabled", configuration: { "auto-configure": "true" } },
  { executor: "reject-implicit-grant", configuration: { "auto-configure": "true" } },
  { executor: "pkce-enforcer", configuration: { "auto-configure": "true" } },
  { executor: "secure-client-authentication-assertion", configuration: {} },
  { executor: "secure-par-content", configuration: {} },
];

/**
 * A realm whose policy demands this of every client.
 *
 * @param {import("../servers.mjs").Stage} stage
 * @param {readonly object[]} [executors]
 * @returns {Promise<import("./keycloak.mjs").KeycloakServer>}
 */
export async function withPolicy(stage, executors = EXECUTORS) {
  const server = await stage.server.newServer();
  const { keycloak, realm } = server;
  const profile = { name: "strict", executors };
  await keycloak.admin.put(realm.path("/client-policies/profiles"), { profiles: [profile] });
  const policy = {
    name: "all",
    enabled: true,
    conditions: [{ condition: "any-client", configuration: {} }],
    profiles: [profile.name],
  };
  await keycloak.admin.put(realm.path("/client-policies/policies"), { policies: [policy] });
  return server;
}

/** @type {readonly import("../servers.mjs").Step[]} */
export const REQUEST_STEPS = [
  {
    key: "par",
    title:
      "With `IDP_PUSHED_REQUESTS=always`, a user signs in although the client requires pushed authorization requests; the browser's address has only `client_id` and `request_uri`.",
    run: (stage) =>
      stage.withApplication(
        { client: { attributes: PAR_REQUIRED }, env: ALWAYS },
        async ({ newTab, env }) => {
          const tab = await newTab();
          /** @type {string[]} */
          const names = [];
          tab.page.on("request", (request) => {
            const url = new URL(request.url());
            if (url.pathname.endsWith("/openid-connect/auth"))
              names.push(...url.searchParams.keys());
          });
          await tab.signIn("ada");
          if (names.sort().join() !== "client_id,request_uri")
            return `the address has ${names.join()}`;
          const { codes, facts } = await checkLive(env);
          if (codes.length > 0 || facts["requests"] !== "pushed")
            return `idpauth check: ${codes.join()}, requests ${facts["requests"]}`;
          const { status } = await tab.fetch("/api/session");
          return status === 200 ? undefined : `status ${status}`;
        },
      ),
  },
  {
    key: "par-missing",
    title:
      "Without the setting, the sign-in at such a client ends on idpauth's page, the log says `invalid_request`, and `idpauth check --live` finds W110, whose remedy names the setting.",
    run: (stage) =>
      stage.withApplication({ client: { attributes: PAR_REQUIRED } }, async (application) => {
        const { page } = await application.newTab();
        await page.goto(`${application.origin}/guarded`);
        if (!page.url().endsWith("/idpauth/?error=invalid_request")) return `at ${page.url()}`;
        const line = application.log().find(({ code }) => code === "callback_failed");
        if (line?.details?.["reason"] !== "invalid_request") return "the log says nothing";
        const { codes } = await checkLive(application.env);
        return codes.includes("W110") ? undefined : `idpauth check: ${codes.join()}`;
      }),
  },
  {
    key: "client-policy",
    title:
      "A client policy that demands PAR, PKCE with S256, consent and a signed JWT, as **fapi-2-security-profile** does but for sender-constrained tokens: sign-in, refresh and logout work with a private key, PS256 or ES256.",
    run: async (stage) => {
      const server = await withPolicy(stage);
      for (const keyAlgorithm of ["PS256", "ES256"]) {
        // The policy makes PS256 the algorithm of a client that names none.
        const attributes = { "token.endpoint.auth.signing.alg": keyAlgorithm };
        const client = { method: "private_key_jwt", keyAlgorithm, attributes };
        const wrong = await stage.withApplication(
          { server, client, env: POLICY_ENV },
          signsInAndOut,
        );
        if (wrong !== undefined) return `${keyAlgorithm}: ${wrong}`;
      }
      return undefined;
    },
  },
];

/**
 * @param {import("../application/start.mjs").RunningApplication} application
 * @returns {Promise<string | undefined>} what is wrong
 */
export async function signsInAndOut({ newTab, env, origin }) {
  const tab = await newTab();
  await tab.signIn("ada");
  await tab.untilExpired();
  const { status } = await tab.fetch("/api/session");
  if (status !== 200) return `status ${status} after the refresh`;
  const { codes, said, facts } = await checkLive(env);
  if (codes.length > 0 || facts["client"] !== "accepted")
    return `idpauth check: ${said} Client ${facts["client"]}.`;
  await tab.page.goto(`${origin}/`);
  await tab.page.evaluate('location.href = "/idpauth/logout/"');
  await tab.page.waitForURL((url) => url.pathname === "/idpauth/");
  await tab.page.goto(`${origin}/guarded`);
  return tab.page.url().startsWith(origin) ? "Keycloak's session lives on" : undefined;
}
