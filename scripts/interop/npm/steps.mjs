// The twelve steps of `npm run interop`. Each returns `good`, or in a word what happened instead.
import { spawn } from "node:child_process";
import path from "node:path";
import { root } from "../../run.mjs";

/**
 * @typedef {object} Stage
 * @property {string} origin of the application
 * @property {Record<string, string>} env of the application
 * @property {import("./provider.mjs").RunningProvider} provider
 * @property {Browser} browser of the user
 * @property {() => Browser} newBrowser
 * @property {string} next where the browser goes in the next step
 *
 * @typedef {import("../../../src/testing/browser/cookie-browser.js").CookieBrowser} Browser
 * @typedef {import("../../../src/testing/browser/cookie-browser.js").BrowserResponse} Answer
 */

const USER = { email: "ada@example.com", name: "The user ada" };
const HERD = 20;
/** Seconds in which the application must be good again after an outage; its back-off is shorter. */
const RECOVERY = 40;
const JSON_ONLY = { headers: { accept: "application/json" } };

/** @type {readonly { title: string, run: (stage: Stage) => Promise<string> }[]} */
export const STEPS = [
  {
    title:
      "`idpauth check --live` finds no error and no warning, and the provider accepts the client.",
    async run({ env }) {
      const { codes, client } = await checkLive(env);
      if (codes.length > 0) return codes.join(", ");
      return client === "accepted" ? "good" : `client ${client}`;
    },
  },
  {
    title: "A signed-out user opens a guarded page and is redirected to the provider.",
    async run(stage) {
      const { browser, provider } = stage;
      const guarded = await browser.navigate("/guarded");
      const login = redirectOf(guarded);
      const answer = await browser.get(login, JSON_ONLY);
      if (answer.status === 503) return problemOf(answer);
      stage.next = redirectOf(answer);
      return new URL(stage.next).origin === new URL(provider.issuer).origin
        ? "good"
        : `goes to ${new URL(stage.next).origin}`;
    },
  },
  {
    title: "The user signs in and consents at the provider's pages.",
    async run(stage) {
      stage.next = await signInAtProvider(stage.browser, stage.next, stage.origin);
      return "good";
    },
  },
  {
    title: "The callback signs the user in and returns to the guarded page.",
    async run({ browser, origin, next }) {
      const answer = await browser.get(next, JSON_ONLY);
      if (answer.status !== 302) return problemOf(answer);
      return redirectOf(answer) === `${origin}/guarded`
        ? "good"
        : `returns to ${redirectOf(answer)}`;
    },
  },
  {
    title: "The session probe has email and name.",
    async run({ browser }) {
      const { authenticated, user } = (await browser.get("/idpauth/session", JSON_ONLY)).json();
      const isRight =
        authenticated === true && user.email === USER.email && user.name === USER.name;
      return isRight ? "good" : `authenticated: ${authenticated}, user: ${JSON.stringify(user)}`;
    },
  },
  {
    title: "The guarded page shows the user.",
    async run({ browser }) {
      const { status, text } = await browser.navigate("/guarded");
      return status === 200 && text.includes(USER.email) ? "good" : `status ${status}`;
    },
  },
  {
    title: "The access token works at the userinfo endpoint.",
    async run({ browser }) {
      const answer = await browser.get("/api/userinfo", JSON_ONLY);
      return answer.status === 200 && answer.json().email === USER.email
        ? "good"
        : `status ${answer.status}`;
    },
  },
  {
    title:
      "When the ID token has expired, the next request refreshes with one token request; the user stays the same.",
    async run({ browser, provider }) {
      await expiry(browser);
      const before = await provider.tokenRequests();
      const answer = await browser.get("/api/session", JSON_ONLY);
      const requests = (await provider.tokenRequests()) - before;
      if (answer.status !== 200 || requests !== 1)
        return `status ${answer.status}, ${requests} token requests`;
      const { user } = answer.json();
      return user.email === USER.email && user.name === USER.name
        ? "good"
        : `user: ${JSON.stringify(user)}`;
    },
  },
  {
    title: `${HERD} concurrent requests after the expiry cause one token request, and all ${HERD} succeed.`,
    async run({ browser, provider }) {
      await expiry(browser);
      const before = await provider.tokenRequests();
      const answers = await Promise.all(
        Array.from({ length: HERD }, () => browser.get("/api/session", JSON_ONLY)),
      );
      const good = answers.filter(({ status }) => status === 200).length;
      const requests = (await provider.tokenRequests()) - before;
      return good === HERD && requests === 1 ? "good" : `${good} good, ${requests} token requests`;
    },
  },
  {
    title:
      "While the provider refuses connections, the response is 503 with Retry-After; afterwards the same session works again.",
    async run({ browser, provider }) {
      await expiry(browser);
      await provider.pause();
      const { status, headers } = await browser.get("/api/session", JSON_ONLY);
      await provider.resume();
      if (status !== 503 || !("retry-after" in headers)) return `status ${status} in the outage`;
      for (let second = 0; second < RECOVERY; second += 1) {
        const later = await browser.get("/api/session", JSON_ONLY);
        if (later.status === 200) return "good";
        if (later.status !== 503) return `status ${later.status} after the outage`;
        await seconds(1);
      }
      return `not good within ${RECOVERY} s`;
    },
  },
  {
    title: "The user signs in again in another browser; the first session still refreshes.",
    async run({ browser, newBrowser, provider, origin }) {
      const other = newBrowser();
      const login = redirectOf(await other.navigate("/guarded"));
      const callback = await signInAtProvider(
        other,
        redirectOf(await other.navigate(login)),
        origin,
      );
      if ((await other.follow(callback)).status !== 200) return "the second sign-in fails";
      await expiry(browser);
      const before = await provider.tokenRequests();
      const { status } = await browser.get("/api/session", JSON_ONLY);
      const requests = (await provider.tokenRequests()) - before;
      return status === 200 && requests === 1
        ? "good"
        : `status ${status}, ${requests} token requests`;
    },
  },
  {
    title: "A sign-out ends the session, and the provider then refuses its refresh token.",
    async run({ browser, provider, env }) {
      // The newest one: the step before has refreshed this session last.
      const refreshToken = await provider.refreshToken();
      const logout = await browser.get("/idpauth/logout/?response=json", JSON_ONLY);
      if (logout.status !== 200) return `status ${logout.status}`;
      const after = await browser.get("/api/session", JSON_ONLY);
      if (after.status !== 401) return `status ${after.status} after signing out`;
      const { status, error } = await refreshWith(refreshToken, provider, env);
      return status === 400 && error === "invalid_grant"
        ? "good"
        : `refresh token: ${status} ${error}`;
    },
  },
];

/** @param {number} count */
function seconds(count) {
  return new Promise((resolve) => {
    setTimeout(resolve, count * 1000);
  });
}

/**
 * Waits until the session's ID token has expired.
 *
 * @param {Browser} browser
 */
async function expiry(browser) {
  const { expires_in } = (await browser.get("/idpauth/session?details=true", JSON_ONLY)).json();
  await seconds(Math.max(0, expires_in ?? 0) + 0.3);
}

/**
 * @param {Answer} answer
 * @returns {string}
 */
function redirectOf({ url, status, location }) {
  if (status < 300 || status >= 400 || location === undefined)
    throw new Error(`${url.pathname} does not redirect (status ${status})`);
  return new URL(location, url).href;
}

/**
 * @param {Answer} answer
 * @returns {string}
 */
function problemOf(answer) {
  const { code } = answer.json();
  return code === "provider_misconfigured" && answer.status === 503
    ? "not set up"
    : `${code} (status ${answer.status})`;
}

/**
 * Follows redirects and submits the provider's forms.
 *
 * @param {Browser} browser
 * @param {string} address
 * @param {string} application its origin
 * @returns {Promise<string>} the callback's address, which is not requested
 */
async function signInAtProvider(browser, address, application) {
  let next = address;
  /** @type {{ method: string, body: string, headers: Record<string, string> } | undefined} */
  let request;
  for (let hop = 0; hop < 20; hop += 1) {
    const answer = await browser.navigate(next, request);
    request = undefined;
    if (answer.location !== undefined) {
      next = redirectOf(answer);
      if (new URL(next).origin === application) return next;
      continue;
    }
    const form = formOf(answer);
    if (form === undefined)
      throw new Error(
        `${answer.url.pathname} of the provider has no form (status ${answer.status})`,
      );
    next = form.action;
    request = {
      method: "POST",
      body: form.fields.toString(),
      headers: { "content-type": "application/x-www-form-urlencoded" },
    };
  }
  throw new Error("the provider never leads back");
}

/** @param {Answer} answer */
function formOf({ url, text }) {
  const [, attributes, content] = /<form\b([^>]*)>(.*?)<\/form>/s.exec(text) ?? [];
  if (attributes === undefined || content === undefined) return undefined;
  const action = new URL(attribute(attributes, "action") ?? "", url).href;
  const fields = new URLSearchParams();
  for (const [, input = ""] of content.matchAll(/<input\b([^>]*)>/g)) {
    const name = attribute(input, "name");
    if (name !== undefined)
      fields.append(name, attribute(input, "value") ?? (name === "login" ? "ada" : "any"));
  }
  return { action, fields };
}

/**
 * @param {string} text
 * @param {string} name
 */
function attribute(text, name) {
  return new RegExp(`\\b${name}="([^"]*)"`).exec(text)?.[1]?.replaceAll("&amp;", "&");
}

/**
 * @param {Record<string, string>} env
 * @returns {Promise<{ codes: string[], client: string }>}
 */
async function checkLive(env) {
  const child = spawn(
    process.execPath,
    [path.join(root, "dist/cli/idpauth.js"), "check", "--live", "--json"],
    {
      env: { ...env, IDP_DEBUG: "true" },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text) => (output += String(text)));
  await new Promise((resolve) => child.once("close", resolve));
  const { findings, facts } = JSON.parse(output);
  return {
    codes: findings.map((/** @type {{ code: string }} */ { code }) => code),
    client: facts.client,
  };
}

/**
 * @param {string} refreshToken
 * @param {import("./provider.mjs").RunningProvider} provider
 * @param {Record<string, string>} env
 * @returns {Promise<{ status: number, error: string | undefined }>}
 */
async function refreshWith(refreshToken, { issuer, clientId, clientSecret }, env) {
  const discovery = await fetch(`${issuer}/.well-known/openid-configuration`);
  const { token_endpoint } = /** @type {{ token_endpoint: string }} */ (await discovery.json());
  const body = new URLSearchParams({ grant_type: "refresh_token", refresh_token: refreshToken });
  const isBasic = env["IDP_TOKEN_ENDPOINT_AUTH_METHOD"] === "client_secret_basic";
  if (!isBasic) {
    body.set("client_id", clientId);
    body.set("client_secret", clientSecret);
  }
  // Id and secret consist of characters that no encoding changes.
  const authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString("base64")}`;
  const response = await fetch(token_endpoint, {
    method: "POST",
    body,
    headers: isBasic ? { authorization } : {},
  });
  const { error } = /** @type {{ error?: string }} */ (await response.json());
  return { status: response.status, error };
}
