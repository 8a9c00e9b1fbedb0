// Pictures of the fields in Keycloak's admin console that are hard to find, for
// docs/providers/keycloak.md: `npm run interop -- keycloak --pictures`.
import path from "node:path";
import { root } from "../../run.mjs";
import { newWindow } from "../browser.mjs";
import { withLevels } from "./steps-step-up.mjs";

const ORIGIN = "https://app.example.com";
const CLIENT = "your-client-id";
/** Of the window, in pixels: a list of sections takes a third of a client's forms. */
const WIDTHS = { client: 1100, other: 800 };
/** So high that each form is shown whole. */
const HEIGHT = 5200;
/** Around the fields, in pixels. */
const MARGIN = 14;

/**
 * @typedef {import("playwright-core").Page} Page
 * @typedef {import("playwright-core").Locator} Locator
 */

/**
 * @typedef {object} Picture
 * @property {keyof typeof WIDTHS} form
 * @property {string} place in the console, below the realm; a word in capitals stands for an id
 * @property {(page: Page) => Promise<void>} [fillIn]
 * @property {(page: Page) => readonly Locator[]} shown the first and the last part that is shown
 */

/** @type {Readonly<Record<string, Picture>>} name of the file -> what is on it */
export const PICTURES = {
  "keycloak-capability": {
    form: "client",
    place: "clients/CLIENT/settings",
    shown: (page) => [
      field(page, "Client authentication"),
      field(page, "Require DPoP bound tokens"),
    ],
  },
  "keycloak-groups": {
    form: "other",
    place: "clients/CLIENT/clientScopes/dedicated/mappers/oidc-group-membership-mapper/new",
    async fillIn(page) {
      await page.getByTestId("name").fill("groups");
      await page.getByRole("textbox", { name: "Token Claim Name" }).fill("groups");
      await field(page, "Full group path").locator("label.pf-v5-c-switch").click();
    },
    shown: (page) => [field(page, "Mapper type"), field(page, "Add to ID token")],
  },
  "keycloak-logout": {
    form: "client",
    place: "clients/CLIENT/settings",
    shown: (page) => [
      field(page, "Front channel logout"),
      field(page, "Backchannel logout session required"),
    ],
  },
  "keycloak-levels": {
    form: "other",
    place: "authentication/FLOW/levels/realm",
    shown: (page) => [
      page.getByRole("row", { name: "Cookie" }),
      page.getByRole("row", { name: "OTP Form" }),
    ],
  },
};

/**
 * @param {import("../servers.mjs").Stage} stage
 * @returns {Promise<undefined>}
 */
export async function takePictures(stage) {
  const { keycloak, realm } = await withLevels(stage);
  const ids = await registered({ keycloak, realm });
  const context = await newWindow(stage.browser, { colorScheme: "light" });
  const page = await context.newPage();
  const console_ = `${keycloak.url}/admin/master/console/`;
  await signIn(page, console_, keycloak.adminPassword);
  for (const [name, { form, place, fillIn, shown }] of Object.entries(PICTURES)) {
    const where = place.replace(/[A-Z]{4,}/, (word) => ids[word] ?? word);
    await page.setViewportSize({ width: WIDTHS[form], height: HEIGHT });
    // The console's addresses differ after the # only, so a form would keep what was filled in.
    await page.goto("about:blank");
    await page.goto(`${console_}#/${realm.name}/${where}`);
    const parts = shown(page);
    for (const part of parts) await part.waitFor();
    await fillIn?.(page);
    await take(page, name, parts);
  }
}

/**
 * @param {Pick<import("./keycloak.mjs").KeycloakServer, "keycloak" | "realm">} server
 * @returns {Promise<Record<string, string>>} ids by their word in a place
 */
async function registered({ keycloak: { admin }, realm }) {
  await realm.newClient({
    origin: ORIGIN,
    id: CLIENT,
    attributes: {
      "backchannel.logout.url": `${ORIGIN}/idpauth/backchannel-logout`,
      "backchannel.logout.session.required": "true",
    },
  });
  const [client] = await admin.get(realm.path(`/clients?clientId=${CLIENT}`));
  const flows = await admin.get(realm.path("/authentication/flows"));
  const flow = flows.find((/** @type {{ alias: string }} */ { alias }) => alias === "levels");
  return { CLIENT: client.id, FLOW: flow.id };
}

/**
 * @param {Page} page
 * @param {string} address
 * @param {string} password
 */
async function signIn(page, address, password) {
  await page.goto(address);
  await page.getByLabel("Username or email").fill("admin");
  await page.locator("#password").fill(password);
  await page.getByRole("button", { name: "Sign In" }).click();
  await page.waitForURL((url) => url.href.startsWith(address));
}

/**
 * @param {Page} page
 * @param {string} label
 */
function field(page, label) {
  return page
    .locator(".pf-v5-c-form__group")
    .filter({ has: page.locator("label, legend").getByText(label, { exact: true }) })
    .first();
}

/**
 * @param {Page} page
 * @param {string} name
 * @param {readonly Locator[]} parts
 */
async function take(page, name, parts) {
  await page.evaluate("document.activeElement?.blur()");
  await page.mouse.move(0, 0);
  const boxes = await Promise.all(parts.map((part) => part.boundingBox()));
  const [first, last] = [boxes[0], boxes.at(-1)];
  if (!first || !last) throw new Error(`${name}: a part of it can't be seen`);
  const clip = {
    x: Math.max(0, first.x - MARGIN),
    y: first.y - MARGIN,
    width: first.width + 2 * MARGIN,
    height: last.y + last.height - first.y + 2 * MARGIN,
  };
  const file = path.join(root, "docs/screenshots", `${name}.png`);
  await page.screenshot({ path: file, clip, animations: "disabled", caret: "hide" });
}
