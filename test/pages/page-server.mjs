import { createServer } from "node:http";
import { errorStates, indexStates, sessionsStates } from "./states.mjs";

// Serves every state under the headers that the component gives its pages, so that their policy is tried with them. The
// modules are handed in: the tests bring the sources, the screenshots the build.

/**
 * @typedef {import("../../src/http/request-and-replies.js").Reply} Reply
 * @typedef {object} Parts
 * @property {typeof import("../../src/pages/pages.js").createPages} createPages
 * @property {typeof import("../../src/http/request-and-replies.js").stylesheet} stylesheet
 */

const PICTURE = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 96"><rect width="96" height="96" fill="#f2b8a0"/><circle cx="48" cy="38" r="17" fill="#5b3a29"/><path d="M14 96c3-24 17-34 34-34s31 10 34 34z" fill="#31547a"/></svg>`;

/**
 * @param {Parts} parts
 * @returns {Promise<{ url: (state: string) => string, states: string[], requests: string[], close: () => Promise<void> }>}
 */
export async function startPageServer({ createPages, stylesheet }) {
  /** @type {Map<string, () => Reply>} */
  const replies = new Map();
  /** @type {string[]} */
  const requests = [];
  const server = createServer((request, response) => {
    const path = request.url ?? "/";
    requests.push(path);
    const reply = replies.get(path)?.() ?? { status: 404, headers: {}, body: "Nothing here." };
    for (const [name, value] of Object.entries(reply.headers)) response.setHeader(name, value);
    response.statusCode = reply.status;
    response.end(reply.body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The page server has no port.");
  const origin = `http://127.0.0.1:${address.port}`;

  const pages = createPages({ publicPath: "/idpauth/", sessionsPage: true });
  const request = { method: "GET", target: "/", scheme: /** @type {const} */ ("http"), host: undefined, header: () => undefined };
  replies.set("/idpauth/style.css", () => stylesheet(pages.style));
  replies.set("/picture.svg", () => ({ status: 200, headers: { "Content-Type": "image/svg+xml" }, body: PICTURE }));
  replies.set("/favicon.ico", () => ({ status: 204, headers: {} }));
  for (const [name, model] of Object.entries(indexStates(origin))) {
    replies.set(`/index-${name}`, () => pages.landing(model, request));
  }
  for (const [name, model] of Object.entries(sessionsStates)) {
    replies.set(`/sessions-${name}`, () => pages.sessions(model, request));
  }
  // Always 200: a browser's console reports an error status, and the tests want it silent.
  for (const [name, model] of Object.entries(errorStates)) {
    replies.set(`/error-${name}`, () => ({ ...pages.error(model, request), status: 200 }));
  }

  return {
    url: (state) => `${origin}/${state}`,
    states: [...replies.keys()].filter((path) => /^\/(index|error|sessions)-/.test(path)).map((path) => path.slice(1)),
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
