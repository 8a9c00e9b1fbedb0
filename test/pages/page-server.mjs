import { createServer } from "node:http";
import {
  chooserStates,
  debugStates,
  errorStates,
  landingStates,
  organizationStates,
  otherUserStates,
  popupStates,
  sessionsStates,
} from "./states.mjs";

// Serves every state under the headers that the component gives its pages, so that their policy is
// tried with them. The modules are handed in: the tests bring the sources, the screenshots the
// build.

/**
 * @typedef {import("../../src/http/reply.js").Reply} Reply
 * @typedef {import("../../src/pages/page-options.js").PagesOptions} PagesOptions
 * @typedef {object} Parts
 * @property {typeof import("../../src/pages/pages.js").createPages} createPages
 * @property {typeof import("../../src/pages/popup-page.js").popupPage} popupPage
 * @property {typeof import("../../src/http/reply.js").stylesheet} stylesheet
 * @property {typeof import("../../src/pages/debug-page.js").debugPage} [debugPage]
 * @property {typeof import("../../src/endpoints/session-list.js").timesScript} [timesScript]
 */

const svg = (/** @type {string} */ content) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 96">${content}</svg>`;
const PICTURE = svg(
  `<rect width="96" height="96" fill="#f2b8a0"/><circle cx="48" cy="38" r="17" fill="#5b3a29"/><path d="M14 96c3-24 17-34 34-34s31 10 34 34z" fill="#31547a"/>`,
);
const LOGO = svg(
  `<rect width="96" height="96" rx="20" fill="#0a5c36"/><path d="M26 30h44l-6 36H32z" fill="#ffffff"/>`,
);

const ICON = svg(
  `<rect width="96" height="96" rx="20" fill="#6b3fa0"/><circle cx="48" cy="48" r="22" fill="#ffffff"/>`,
);

/**
 * The looks of the pages: English ones have no prefix in their addresses.
 * @type {Readonly<Record<string, PagesOptions>>}
 */
export const LOOKS = {
  "": {},
  de: { locale: "de" },
  fr: { locale: "fr" },
  es: { locale: "es" },
  ja: { locale: "ja" },
  ar: { locale: "ar" },
  own: {
    name: "Example Shop",
    logo: { src: "/logo.svg", width: 48, height: 48 },
    colors: { accent: "#0a5c36", background: "#f2f7f4", dark: { background: "#0b1410" } },
    homeHref: "/shop",
  },
};

/**
 * @param {Parts} parts
 * @returns {Promise<{ url: (state: string, look?: string) => string, requests: string[], close: () => Promise<void> }>}
 */
export async function startPageServer(parts) {
  /** @type {Map<string, () => Reply | Promise<Reply>>} */
  const replies = new Map();
  /** @type {string[]} */
  const requests = [];
  /**
   * @param {import("node:http").IncomingMessage} request
   * @param {import("node:http").ServerResponse} response
   */
  async function respond(request, response) {
    const path = request.url ?? "/";
    requests.push(path);
    const reply = (await replies.get(path.replace(/\?.*/, ""))?.()) ?? {
      status: 404,
      headers: {},
      body: "Nothing here.",
    };
    for (const [name, value] of Object.entries(reply.headers)) response.setHeader(name, value);
    response.statusCode = reply.status;
    response.end(reply.body);
  }
  const server = createServer((request, response) => void respond(request, response));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const address = server.address();
  if (address === null || typeof address === "string")
    throw new Error("The page server has no port.");
  const origin = `http://127.0.0.1:${address.port}`;

  const image = (/** @type {string} */ body) => () => ({
    status: 200,
    headers: { "Content-Type": "image/svg+xml" },
    body,
  });
  replies.set("/picture.svg", image(PICTURE));
  replies.set("/logo.svg", image(LOGO));
  replies.set("/icon.svg", image(ICON));
  replies.set("/favicon.ico", () => ({ status: 204, headers: {} }));
  for (const look of Object.keys(LOOKS))
    for (const [path, reply] of repliesOf(parts, origin, look)) replies.set(path, reply);

  return {
    url: (state, look = "") => `${origin}${prefixOf(look)}${state}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const prefixOf = (/** @type {string} */ look) => (look === "" ? "/" : `/${look}/`);

/**
 * @param {Parts} parts
 * @param {string} origin
 * @param {string} [look] a key of {@link LOOKS}
 * @returns {Map<string, () => Reply | Promise<Reply>>} path -> the page of one state, or its
 *   stylesheet
 */
function repliesOf(parts, origin, look = "") {
  const { createPages, popupPage, stylesheet, debugPage, timesScript } = parts;
  /** @type {Map<string, () => Reply | Promise<Reply>>} */
  const replies = new Map();
  const prefix = prefixOf(look);
  const publicPath = `${prefix}idpauth/`;
  /** @param {{ debug?: boolean | undefined, isStranger?: boolean | undefined }} [shown] */
  const pagesFor = ({ debug = false, isStranger = false } = {}) =>
    createPages({
      publicPath,
      address: { baseUrl: origin, trustProxy: false },
      sessionsPage: true,
      debug,
      mayHaveSession: () => !isStranger,
      options: LOOKS[look],
    });
  const pages = pagesFor();
  const request = {
    method: "GET",
    target: "/",
    scheme: /** @type {const} */ ("http"),
    host: undefined,
    header: () => undefined,
  };
  replies.set(`${publicPath}style.css`, async () => stylesheet(await pages.style()));
  // It only has to load: what it does is tested elsewhere.
  const empty = () => ({ status: 200, headers: { "Content-Type": "text/javascript" }, body: "" });
  replies.set(`${publicPath}popup.js`, empty);
  // Without it, times are in UTC, on every machine that takes screenshots.
  replies.set(`${publicPath}times.js`, timesScript ?? empty);
  for (const [name, model] of Object.entries(landingStates(origin)))
    replies.set(`${prefix}landing-${name}`, () => pagesFor(model).landing(model, request));
  for (const [name, model] of Object.entries(sessionsStates))
    replies.set(`${prefix}sessions-${name}`, () => pages.sessions(model, request));
  for (const [name, model] of Object.entries(popupStates))
    replies.set(`${prefix}popup-${name}`, () =>
      pages.own(request, (texts) => popupPage(model, texts)),
    );
  for (const [name, model] of Object.entries(chooserStates))
    replies.set(`${prefix}chooser-${name}`, () => pages.chooser(model, request));
  for (const [name, model] of Object.entries(organizationStates))
    replies.set(`${prefix}organization-${name}`, () => pages.organization(model, request));
  // Always 200: a browser's console reports an error status, and the tests want it silent.
  for (const [name, model] of Object.entries(otherUserStates)) {
    replies.set(`${prefix}other-user-${name}`, async () => ({
      ...(await pages.otherUser(model, request)),
      status: 200,
    }));
  }
  if (debugPage !== undefined)
    for (const [name, model] of Object.entries(debugStates))
      replies.set(`${prefix}debug-${name}`, () => debugPage(model, publicPath));
  for (const [name, model] of Object.entries(errorStates)) {
    replies.set(`${prefix}error-${name}`, async () => ({
      ...(await pagesFor(model).error(model, request)),
      status: 200,
    }));
  }
  return replies;
}
