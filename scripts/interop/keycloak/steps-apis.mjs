// Tokens for APIs of their own, which a client scope with an audience mapper brings.
import { startApi } from "../application/start.mjs";
import { eventually, seconds } from "../application/tab.mjs";

/** @typedef {import("./keycloak.mjs").KeycloakServer} KeycloakServer */

/** Seconds; a token lives for 6. */
const LONGER_THAN_A_TOKEN = 10;

/** Opens an event stream and a WebSocket, and counts what arrives. */
const OPEN_BOTH = `
  window.seen = { events: 0, echoes: 0, isStreamClosed: false };
  const stream = new EventSource("/proxy/one/events");
  stream.onmessage = () => { seen.events += 1; };
  stream.onerror = () => { seen.isStreamClosed = true; };
  const socket = new WebSocket(location.origin.replace("http", "ws") + "/proxy/one/echo");
  socket.onopen = () => setInterval(() => socket.send("ping"), 100);
  socket.onmessage = () => { seen.echoes += 1; };
  socket.onclose = ({ code }) => { seen.closeCode = code; };
`;

/**
 * What each API's token has to be for.
 *
 * @param {string} name
 */
const audienceOf = (name) => `https://${name}.example.com`;

/**
 * A realm whose client scopes `one`, `two` and `three` each bring the audience of an API, `three`
 * only for users with the role `admin`. Its clients may request `one`, `two` and `three`.
 *
 * @param {import("../servers.mjs").Stage} stage
 * @param {import("./realm.mjs").RealmWish} [wish]
 * @returns {Promise<KeycloakServer>}
 */
async function withScopes(stage, wish) {
  /** @type {KeycloakServer} */
  const server = await stage.server.newServer(wish);
  const { keycloak, realm } = server;
  const names = ["one", "two", "three"];
  for (const name of names) {
    const id = await keycloak.admin.post(realm.path("/client-scopes"), {
      name,
      protocol: "openid-connect",
      attributes: { "include.in.token.scope": "true" },
      protocolMappers: [audienceMapper(audienceOf(name))],
    });
    if (name !== "three") continue;
    const role = await keycloak.admin.get(realm.path("/roles/admin"));
    await keycloak.admin.post(realm.path(`/client-scopes/${id}/scope-mappings/realm`), [role]);
  }
  const settings = {
    defaultClientScopes: ["basic", "profile", "email", "roles", "acr"],
    optionalClientScopes: names,
  };
  return {
    ...server,
    newClient: (client) => server.newClient({ ...client, settings }),
  };
}

/** @param {string} audience */
function audienceMapper(audience) {
  return {
    name: "audience",
    protocol: "openid-connect",
    protocolMapper: "oidc-audience-mapper",
    config: { "included.custom.audience": audience, "access.token.claim": "true" },
  };
}

/**
 * Starts two APIs, and gives the table by which the application reaches them.
 *
 * @param {KeycloakServer} server
 * @param {(urls: { one: string, two: string }) => Promise<string | undefined>} use
 */
async function withApis({ issuer, keycloak, realm }, use) {
  const jwks = `${keycloak.internalUrl}/realms/${realm.name}/protocol/openid-connect/certs`;
  const start = (/** @type {string} */ name) =>
    startApi({ issuer, jwks, audience: audienceOf(name) });
  const [one, two] = await Promise.all([start("one"), start("two")]);
  try {
    return await use({ one: one.url, two: two.url });
  } finally {
    await Promise.all([one.end(), two.end()]);
  }
}

/**
 * @param {string} name
 * @param {string} url
 * @param {object} [more]
 */
const row = (name, url, more = {}) => ({
  [name]: { url, scope: [name], audience: audienceOf(name), path: `/proxy/${name}/`, ...more },
});

/** @type {readonly import("../servers.mjs").Step[]} */
export const API_STEPS = [
  ...[false, true].map((isStrict) => ({
    key: isStrict ? "apis-strict" : "apis",
    title: `Each of two APIs gets a token for itself only, by \`fetchApi\` and by the proxy, in turn with the session's refreshes, whose token is for both${isStrict ? "; with **Revoke Refresh Token** on" : ""}.`,
    run: async (/** @type {import("../servers.mjs").Stage} */ stage) => {
      const settings = isStrict ? { revokeRefreshToken: true, refreshTokenMaxReuse: 0 } : {};
      const server = await withScopes(stage, { settings });
      return withApis(server, async ({ one, two }) => {
        const apis = {
          ...row("one", one),
          ...row("two", two),
          own: { url: two, path: "/proxy/own/" },
          crossed: { url: one, scope: ["two"], path: "/proxy/crossed/" },
        };
        return stage.withApplication({ server, options: { apis } }, async ({ newTab }) => {
          const tab = await newTab();
          await tab.signIn("ada");
          for (let round = 1; round <= 3; round += 1) {
            const wrong = await calls(tab);
            if (wrong !== undefined) return `round ${round}: ${wrong}`;
            await tab.untilExpired();
          }
          return undefined;
        });
      });
    },
  })),
  {
    key: "api-later",
    title:
      'The proxy of an API with `consent: "later"` sends the user to one login for its scope, which Keycloak ignores before; then the API gets its token.',
    run: async (stage) => {
      const server = await withScopes(stage);
      return withApis(server, ({ one, two }) => {
        const apis = { ...row("one", one), ...row("two", two, { consent: "later" }) };
        return stage.withApplication({ server, options: { apis } }, async ({ newTab, origin }) => {
          const tab = await newTab();
          await tab.signIn("ada");
          const { status, body } = await tab.fetch("/call/two");
          if (status !== 401 || body.login_url !== "/idpauth/login/?api=two")
            return `status ${status}, login_url ${body.login_url}, before the login`;
          const page = await tab.page.goto(`${origin}/proxy/two/whoami`);
          if (page?.status() !== 200) return `status ${page?.status()} after the login`;
          const { status: after } = await tab.fetch("/call/one");
          return after === 200 ? undefined : `status ${after} for the other API`;
        });
      });
    },
  },
  {
    key: "api-refused",
    title:
      "A user who lacks the role that a scope requires gets 502 `api_token_refused`, as a page and as JSON, after at most one login; the session and the other API go on.",
    run: async (stage) => {
      const server = await withScopes(stage);
      for (const more of [{}, { consent: "later" }]) {
        const wrong = await withApis(server, ({ one, two }) => {
          const options = { apis: { ...row("one", one), ...row("three", two, more) } };
          return stage.withApplication({ server, options }, async ({ newTab, origin, log }) => {
            const tab = await newTab();
            await tab.signIn("grace");
            const page = await tab.page.goto(`${origin}/proxy/three/whoami`);
            const { status, body } = await tab.fetch("/call/three");
            if (page?.status() !== 502 || status !== 502 || body.code !== "api_token_refused")
              return `a page with status ${page?.status()}, and JSON with ${status} ${body.code}`;
            const line = log().find(({ code }) => code === "api_token_failed");
            if (line?.details?.["reason"] !== "api_token_audience")
              return `the log says ${line?.details?.["reason"]}`;
            const { status: other } = await tab.fetch("/call/one");
            return other === 200 ? undefined : `status ${other} for the other API`;
          });
        });
        if (wrong !== undefined) return `${JSON.stringify(more)}: ${wrong}`;
      }
      return undefined;
    },
  },
  {
    key: "api-unknown-scope",
    title:
      "If the client may not request an API's scope, the sign-in ends on idpauth's page, which says so, and the log names `invalid_scope`.",
    run: async (stage) => {
      const server = await withScopes(stage);
      const options = { apis: row("unknown", "http://127.0.0.1:9/") };
      return stage.withApplication({ server, options }, async ({ newTab, origin, log }) => {
        const { page } = await newTab();
        await page.goto(`${origin}/guarded`);
        if (page.url() !== `${origin}/idpauth/?error=invalid_scope`) return `at ${page.url()}`;
        const line = log().find(({ code }) => code === "callback_failed");
        return line?.details?.["reason"] === "invalid_scope" ? undefined : "the log says nothing";
      });
    },
  },
  {
    key: "api-streams",
    title:
      "An event stream and a WebSocket through the proxy continue for longer than a token's life, and both end when the user signs out here, or the admin signs the user out by back-channel logout.",
    run: async (stage) => {
      const server = await withScopes(stage);
      const { admin } = server.keycloak;
      const user = server.realm.path(`/users/${await server.realm.userId("ada")}`);
      const client = { logout: "back" };
      const env = { IDP_BACKCHANNEL_LOGOUT: "on" };
      return withApis(server, ({ one }) => {
        const options = { apis: row("one", one) };
        return stage.withApplication({ server, client, env, options }, async (application) => {
          const tab = await application.newTab();
          const ends = [
            () => tab.fetch("/idpauth/logout/?response=json"),
            () => admin.post(`${user}/logout`),
          ];
          for (const end of ends) {
            await tab.signIn("ada");
            const wrong = await streams(tab, end);
            if (wrong !== undefined) return wrong;
          }
          return undefined;
        });
      });
    },
  },
];

/**
 * @param {import("../application/tab.mjs").Tab} tab
 * @returns {Promise<string | undefined>} what is wrong
 */
async function calls(tab) {
  for (const name of ["one", "two"])
    for (const path of [`/call/${name}`, `/proxy/${name}/whoami`]) {
      const { status, body } = await tab.fetch(path);
      if (status !== 200 || body.audience !== audienceOf(name))
        return `status ${status} at ${path}`;
    }
  const { status: own } = await tab.fetch("/call/own");
  if (own !== 200) return `status ${own} for the session's own token`;
  const { status } = await tab.fetch("/call/crossed");
  return status === 401 ? undefined : `API one takes API two's token: status ${status}`;
}

/**
 * @param {import("../application/tab.mjs").Tab} tab
 * @param {() => Promise<unknown>} end ends the session
 * @returns {Promise<string | undefined>} what is wrong
 */
async function streams({ page }, end) {
  /** @returns {Promise<{ events: number, echoes: number, isStreamClosed: boolean, closeCode?: number }>} */
  const seen = () => page.evaluate("window.seen");
  await page.goto(new URL("/", page.url()).href);
  await page.evaluate(OPEN_BOTH);
  await seconds(LONGER_THAN_A_TOKEN);
  const before = await seen();
  await seconds(1);
  const after = await seen();
  if (after.isStreamClosed || after.events <= before.events) return "the event stream has stopped";
  if (after.echoes <= before.echoes) return "the WebSocket has stopped";
  await end();
  await eventually(async () => {
    const { isStreamClosed, closeCode } = await seen();
    return isStreamClosed && closeCode !== undefined;
  });
  return undefined;
}
