// The server that the provider programs of `npm run interop` share: it counts requests, refuses
// connections on command and keeps the newest refresh token, so that the run can check that a
// logout revoked it. A program and the run exchange messages.
import { createServer } from "node:http";

/**
 * What the run tells a provider program, as JSON in the variable INTEROP.
 *
 * @typedef {object} Task
 * @property {string} configuration its key in configurations.mjs
 * @property {number} port
 * @property {string} redirectUri
 * @property {number} idTokenSeconds
 */

/** @returns {Task} */
export function readTask() {
  return JSON.parse(process.env["INTEROP"] ?? "null");
}

/**
 * @param {(request: import("node:http").IncomingMessage, response: import("node:http").ServerResponse) => unknown}
 *   listener
 * @param {{ port: number, tokenPath: string, client: { issuer: string, clientId: string, clientSecret: string } }}
 *   options
 */
export async function serve(listener, { port, tokenPath, client }) {
  /** @type {Record<string, number>} */
  const counts = {};
  let refreshToken = "";
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const name = `${request.method} ${pathname}`;
    counts[name] = (counts[name] ?? 0) + 1;
    if (name === `POST ${tokenPath}`) {
      watchBody(response, (body) => {
        const found = /"refresh_token":\s*"([^"]+)"/.exec(body)?.[1];
        if (found !== undefined) refreshToken = found;
      });
    }
    void listener(request, response);
  });
  const listen = () =>
    new Promise((resolve, reject) => {
      server.once("error", reject).listen(port, "127.0.0.1", () => resolve(undefined));
    });
  /** @type {Record<string, () => unknown>} */
  const commands = {
    counts: () => counts,
    refreshToken: () => refreshToken,
    tokenPath: () => tokenPath,
    pause: () =>
      new Promise((resolve) => {
        server.close(() => resolve(undefined));
        server.closeAllConnections();
      }),
    resume: listen,
  };
  const obey = async (/** @type {{ id: number, command: string }} */ { id, command }) => {
    const result = await commands[command]?.();
    process.send?.({ id, result });
  };
  process.on("message", (/** @type {any} */ message) => void obey(message));
  // The run is gone.
  process.on("disconnect", () => process.exit());
  await listen();
  process.send?.({ ready: client });
}

/**
 * @param {import("node:http").ServerResponse} response
 * @param {(body: string) => void} done
 */
function watchBody(response, done) {
  /** @type {Buffer[]} */
  const chunks = [];
  const keep = (/** @type {unknown} */ chunk) => {
    if (typeof chunk === "string" || chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
  };
  const write = response.write.bind(response);
  const end = response.end.bind(response);
  response.write = (/** @type {any[]} */ ...args) => {
    keep(args[0]);
    return /** @type {any} */ (write)(...args);
  };
  response.end = (/** @type {any[]} */ ...args) => {
    keep(args[0]);
    done(Buffer.concat(chunks).toString("utf8"));
    return /** @type {any} */ (end)(...args);
  };
}
