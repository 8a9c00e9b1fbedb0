// Step-up: levels of authentication, and a sign-in that is recent enough.
import { createHmac } from "node:crypto";
import { seconds } from "../application/tab.mjs";
import { signInAtKeycloak } from "./login-page.mjs";
import { PASSWORD } from "./realm.mjs";

const OTP_SECRET = "a secret of twenty b";
/** What the realm maps the values of `acr` to. No login at this realm reaches platinum. */
const LEVELS = { silver: 1, gold: 2, platinum: 3 };

const FLOW = "levels";
const FACTORS = [
  {
    alias: "first factor",
    provider: "auth-username-password-form",
    config: { "loa-condition-level": "1", "loa-max-age": "36000" },
  },
  {
    alias: "second factor",
    provider: "auth-otp-form",
    config: { "loa-condition-level": "2", "loa-max-age": "300" },
  },
];
/** What /fresh requires, in seconds. */
const MAX_AGE = 30;

/** The one-time code of now (RFC 6238, SHA-1, six digits), as an app on a phone shows it. */
function code() {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)));
  const digest = createHmac("sha1", OTP_SECRET).update(counter).digest();
  const offset = (digest.at(-1) ?? 0) & 0xf;
  return String((digest.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}

/**
 * A realm in which a password is the first level and a one-time code the second. ada has a code.
 *
 * @param {import("../servers.mjs").Stage} stage
 * @returns {Promise<import("./keycloak.mjs").KeycloakServer>}
 */
export async function withLevels(stage) {
  const server = await stage.server.newServer({
    settings: {
      attributes: { "acr.loa.map": JSON.stringify(LEVELS) },
      otpPolicyCodeReusable: true,
    },
  });
  const { keycloak, realm } = server;
  const { admin } = keycloak;
  await addFlow(admin, realm);
  await admin.put(realm.path(""), { browserFlow: FLOW });
  await admin.put(realm.path(`/users/${await realm.userId("ada")}`), {
    credentials: [{ type: "password", value: PASSWORD, temporary: false }, oneTimeCode()],
  });
  return {
    ...server,
    signInAtProvider: (page, user = "ada") => signInAtKeycloak(page, { user, code }),
  };
}

function oneTimeCode() {
  const data = { subType: "totp", digits: 6, period: 30, algorithm: "HmacSHA1" };
  return {
    type: "otp",
    secretData: JSON.stringify({ value: OTP_SECRET }),
    credentialData: JSON.stringify(data),
  };
}

/**
 * Adds a browser flow with two levels of authentication.
 *
 * @param {import("./admin.mjs").Admin} admin
 * @param {import("./realm.mjs").Realm} realm
 */
async function addFlow(admin, realm) {
  const flows = realm.path("/authentication/flows");
  const basic = { type: "basic-flow", description: "" };
  await admin.post(flows, { alias: FLOW, providerId: basic.type, topLevel: true, builtIn: false });
  /**
   * @param {string} flow
   * @param {{ kind: "flow" | "execution", body: object, requirement: string }} execution
   */
  const add = async (flow, { kind, body, requirement }) => {
    const parent = `${flows}/${encodeURIComponent(flow)}`;
    const added = await admin.post(`${parent}/executions/${kind}`, body);
    const all = await admin.get(`${flows}/${FLOW}/executions`);
    const own = all.find((/** @type {any} */ { id, flowId }) => id === added || flowId === added);
    await admin.put(`${flows}/${FLOW}/executions`, { ...own, requirement });
    return own.id;
  };
  const execution = (/** @type {string} */ provider, requirement = "REQUIRED") =>
    /** @type {const} */ ({ kind: "execution", body: { provider }, requirement });
  const subflow = (/** @type {string} */ alias, /** @type {string} */ requirement) =>
    /** @type {const} */ ({ kind: "flow", body: { ...basic, alias }, requirement });
  await add(FLOW, execution("auth-cookie", "ALTERNATIVE"));
  await add(FLOW, subflow("factors", "ALTERNATIVE"));
  for (const { alias, provider, config } of FACTORS) {
    await add("factors", subflow(alias, "CONDITIONAL"));
    const condition = await add(alias, execution("conditional-level-of-authentication"));
    const path = realm.path(`/authentication/executions/${condition}/config`);
    await admin.post(path, { alias, config });
    await add(alias, execution(provider));
  }
}

/** @type {readonly import("../servers.mjs").Step[]} */
export const STEP_UP_STEPS = [
  {
    key: "acr",
    title:
      "A guard with `acr` has Keycloak ask for a one-time code only, and the user passes; also after a refresh, whose ID token has no `acr`.",
    run: async (stage) => {
      const server = await withLevels(stage);
      return stage.withApplication({ server, acr: "gold" }, async ({ newTab, origin }) => {
        const tab = await newTab();
        await tab.signIn("ada");
        const { status, body } = await tab.fetch("/strong");
        if (status !== 401 || body.acr_values !== "gold")
          return `status ${status} for a script before the step-up`;
        await tab.page.goto(`${origin}/strong`);
        if ((await tab.page.locator("#otp").count()) === 0) return "Keycloak asks for no code";
        await server.signInAtProvider(tab.page);
        for (const when of ["step-up", "refresh"]) {
          const { status } = await tab.fetch("/strong");
          if (status !== 200) return `status ${status} after the ${when}`;
          await tab.untilExpired();
        }
        return undefined;
      });
    },
  },
  {
    key: "acr-refused",
    title:
      "If Keycloak can't reach the level, or `acr_values` is removed from the login's address on its way, the user gets 403 `step_up_failed`, and keeps the session.",
    run: async (stage) => {
      const server = await withLevels(stage);
      return stage.withApplication({ server, acr: "platinum" }, async ({ newTab, origin }) => {
        const tab = await newTab();
        await tab.signIn("ada");
        await startTampered(tab, { query: "acr_values=gold", removed: ["acr_values"] });
        const tampered = await refusalIn(tab);
        if (tampered !== undefined) return `without acr_values: ${tampered}`;
        await tab.page.goto(`${origin}/strong`);
        await server.signInAtProvider(tab.page);
        return refusalIn(tab);
      });
    },
  },
  {
    key: "max-age",
    title:
      "A guard with `maxAge` has Keycloak ask for the password again, although Keycloak's own session lives; then the user passes. If `max_age` and `prompt` are removed from the login's address on its way, the user gets 403 `step_up_failed`.",
    run: (stage) =>
      stage.withApplication({ env: { IDP_CLOCK_TOLERANCE: "1" } }, async ({ newTab, origin }) => {
        const tab = await newTab();
        await tab.signIn("ada", "/fresh");
        if ((await tab.fetch("/fresh")).status !== 200) return "a new sign-in isn't recent";
        await seconds(MAX_AGE + 2);
        const late = await tab.fetch("/fresh");
        if (late.status !== 401) return `status ${late.status} after ${MAX_AGE} s`;
        const query = `max_age=${MAX_AGE}`;
        await startTampered(tab, { query, removed: ["max_age", "prompt"] });
        const tampered = await refusalIn(tab);
        if (tampered !== undefined) return `without max_age: ${tampered}`;
        await startTampered(tab, { query, removed: ["prompt"] });
        if (tab.page.url().startsWith(origin)) return "Keycloak ignores max_age";
        await tab.page.goto(`${origin}/fresh`);
        await stage.server.signInAtProvider(tab.page);
        const { status } = await tab.fetch("/fresh");
        return status === 200 ? undefined : `status ${status} after the step-up`;
      }),
  },
  {
    key: "step-up-other-user",
    title:
      "If another user signs in on the page that asks for the password again, that user gets 403 `step_up_failed`, and the session is still the first user's, until Keycloak refuses its next refresh.",
    run: async (stage) => {
      // Keycloak's session of the first user has ended, so that a refresh would end this one.
      const server = await stage.server.newServer({ settings: { accessTokenLifespan: 300 } });
      return stage.withApplication({ server }, async ({ newTab }) => {
        const tab = await newTab();
        await tab.signIn("ada");
        await startTampered(tab, { query: `max_age=${MAX_AGE}`, removed: [] });
        await tab.page.locator("#reset-login").click();
        await tab.page.waitForLoadState();
        await signInAtKeycloak(tab.page, { user: "grace" });
        const wrong = await refusalIn(tab);
        if (wrong !== undefined) return wrong;
        const { user } = (await tab.fetch("/api/session")).body;
        return user.email === "ada@example.com" ? undefined : `the session is ${user.email}'s`;
      });
    },
  },
];

/**
 * @param {import("../application/tab.mjs").Tab} tab
 * @returns {Promise<string | undefined>} undefined: its page is the refusal of a step-up, and the
 *   session continues
 */
async function refusalIn(tab) {
  const shown = await tab.page.locator("body").innerText();
  if (!shown.includes("Error 403 step_up_failed")) return `the page shows ${shown}`;
  const { status } = await tab.fetch("/api/session");
  return status === 200 ? undefined : `status ${status} after the refusal`;
}

/**
 * Starts a login as a page of the application would. On its way to Keycloak, parameters are removed
 * from the address, as an extension of the user's browser could do.
 *
 * @param {import("../application/tab.mjs").Tab} tab
 * @param {{ query: string, removed: readonly string[] }} login
 */
async function startTampered({ page }, { query, removed }) {
  await page.goto(new URL("/", page.url()).href);
  const address = `/idpauth/login/?response=json&${query}`;
  const script = `fetch(${JSON.stringify(address)}).then((answer) => answer.json())`;
  const { redirect_to } = /** @type {{ redirect_to: string }} */ (await page.evaluate(script));
  const url = new URL(redirect_to);
  for (const name of removed) url.searchParams.delete(name);
  await page.goto(url.href);
}
