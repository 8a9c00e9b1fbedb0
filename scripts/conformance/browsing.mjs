// What the user does in each of the suite's modules.
import { newWindow } from "../interop/browser.mjs";
import { eventually, seconds } from "../interop/application/tab.mjs";

/**
 * @typedef {object} Scene
 * @property {import("playwright-core").Browser} browser
 * @property {string} origin the application's
 * @property {import("./suite-api.mjs").SuiteApi} api
 * @property {string} id of the module
 * @property {import("./plans.mjs").Plan} plan
 *
 * @typedef {(scene: Scene) => Promise<void>} Act
 */

/** Seconds that a suite's page, or idpauth's, may take. */
const PAGE_SECONDS = 30;

/** @type {Record<string, Act>} by module; every other module is {@link signIn} */
const ACTS = {
  "oidcc-client-test-discovery-openid-config": requestLogin,
  "oidcc-client-test-discovery-webfinger-acct": findNoField,
  "oidcc-client-test-discovery-webfinger-url": findNoField,
  "oidcc-client-test-signing-key-rotation": signInTwice,
  "oidcc-client-test-3rd-party-init-login": visitGivenAddress,
  "oidcc-client-test-refresh-token": refresh,
  "oidcc-client-test-refresh-token-invalid-issuer": refresh,
  "oidcc-client-test-refresh-token-invalid-sub": refresh,
  "oidcc-client-test-rp-frontchannel-rpinitlogout": signOutByFrame,
};
const LOGOUT = /^oidcc-client-test-rp-(?:init-logout|backchannel-rpinitlogout)(?:-[\w-]+)?$/;

/**
 * @param {string} module
 * @returns {Act}
 */
export function actOf(module) {
  if (module.startsWith("fapi2-")) return readAccounts;
  return ACTS[module] ?? (LOGOUT.test(module) ? signOut : signIn);
}

/** @type {Act} */
async function signIn(scene) {
  await inWindow(scene, (page) => open(page, scene, "/guarded"));
}

/**
 * A module whose client must stop before that ends without the request to the API.
 *
 * @type {Act}
 */
async function readAccounts(scene) {
  await inWindow(scene, (page) => open(page, scene, "/accounts"));
}

/** @type {Act} */
async function signInTwice(scene) {
  for (let time = 0; time < 2; time += 1) await signIn(scene);
}

/**
 * The module ends with the first request that it sees, and would count the user's as an error.
 *
 * @type {Act}
 */
async function requestLogin(scene) {
  // The response has the provider's address, and the browser stays.
  await inWindow(scene, (page) => open(page, scene, "/idpauth/login/?response=json"));
}

/**
 * The user would enter an identifier, by which the client looks up the issuer.
 *
 * @type {Act}
 */
async function findNoField() {
  // idpauth has no field for it. With the issuer in its settings it would send what the module waits
  // for, which would prove nothing.
}

/** @type {Act} */
async function visitGivenAddress(scene) {
  const { api, id } = scene;
  await eventually(async () => (await api.addresses(id)).length > 0, PAGE_SECONDS);
  const [address = ""] = await api.addresses(id);
  await api.visited(id, address);
  await inWindow(scene, (page) => open(page, scene, address));
}

/** @type {Act} */
async function refresh(scene) {
  await inWindow(scene, async (page) => {
    await open(page, scene, "/guarded");
    if (!scene.plan.expires) return open(page, scene, "/refresh");
    const probe = await request(page, "/idpauth/session?details=true");
    await seconds(Number(JSON.parse(probe).expires_in) + 1);
    // If the refresh is refused, the browser stays signed out. A page would send it to sign in again.
    await request(page, "/userinfo");
  });
}

/** @type {Act} */
async function signOut(scene) {
  await inWindow(scene, async (page) => {
    await open(page, scene, "/guarded");
    await open(page, scene, "/idpauth/");
    await page.getByRole("link", { name: "Sign out" }).click();
    await page.waitForURL((url) => url.origin === scene.origin);
  });
}

/**
 * The suite's page escapes the frame's address for HTML, although it's in a script, and doesn't encode the
 * parameters, so that the frame would load another address. It's corrected in the browser, and the
 * suite's server isn't changed.
 *
 * @type {Act}
 */
async function signOutByFrame(scene) {
  await inWindow(scene, async (page) => {
    await page.addInitScript({ content: CORRECTED_FRAMES });
    await open(page, scene, "/guarded");
    await open(page, scene, "/idpauth/");
    const framed = page.waitForResponse(/\/frontchannel-logout\b/);
    await page.getByRole("link", { name: "Sign out" }).click();
    // The suite's result is the same, whatever the frame gets.
    const status = (await framed).status();
    if (status !== 200) throw new Error(`The front-channel logout responded ${status}.`);
    // The page waits for some seconds before it goes on.
    await page.waitForURL((url) => url.origin === scene.origin);
  });
}

/**
 * Runs in the browser too, so it needs nothing of this file.
 *
 * @param {string} escaped as the suite's page has it
 * @returns {string} the address that is meant
 */
function frameAddress(escaped) {
  /** @type {Record<string, string>} */
  const characters = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
  const text = escaped.replace(/&(\w+|#39);/g, (entity, name) => characters[name] ?? entity);
  // The session's id comes last and contains characters such as `&` and `#`.
  const [, address = "", iss = "", sid = ""] = /^(.*)\?iss=(.*)&sid=(.*)$/s.exec(text) ?? [];
  return address === "" ? text : `${address}?${new URLSearchParams({ iss, sid }).toString()}`;
}

const CORRECTED_FRAMES = `
  const frames = HTMLIFrameElement.prototype;
  const source = Object.getOwnPropertyDescriptor(frames, "src");
  const addressOf = ${frameAddress.toString()};
  Object.defineProperty(frames, "src", {
    ...source,
    set(address) {
      source.set.call(this, addressOf(address));
    },
  });`;

/**
 * @param {Scene} scene
 * @param {(page: import("playwright-core").Page) => Promise<unknown>} use
 */
async function inWindow({ browser }, use) {
  const window = await newWindow(browser);
  window.setDefaultTimeout(PAGE_SECONDS * 1000);
  try {
    await use(await window.newPage());
  } finally {
    await window.close();
  }
}

/**
 * Goes wherever the redirects lead. An error page is a page too: only the suite judges.
 *
 * @param {import("playwright-core").Page} page
 * @param {Scene} scene
 * @param {string} address
 */
async function open(page, { origin, plan }, address) {
  await page.goto(new URL(address, origin).href);
  // The suite's page posts the response by a script, when it has been loaded.
  if (plan.settings?.["IDP_RESPONSE_MODE"] === "form_post")
    await page.waitForURL((url) => url.origin === origin);
}

/**
 * A request of the page's script.
 *
 * @param {import("playwright-core").Page} page
 * @param {string} path
 * @returns {Promise<string>} the response's body
 */
function request(page, path) {
  return page.evaluate(async (url) => {
    const response = await fetch(url, { headers: { accept: "application/json" } });
    return response.text();
  }, path);
}
