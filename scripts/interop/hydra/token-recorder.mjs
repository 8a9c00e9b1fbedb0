// Stands between the application and Hydra's token endpoint: keeps what Hydra issued, so that a step
// can use a token as its thief would, and can lose a response.
import { createServer } from "node:http";

/**
 * @typedef {object} Issued
 * @property {string} access_token
 * @property {string} [refresh_token]
 * @property {string} [id_token]
 */

/**
 * @param {string} issuer
 * @returns {Promise<{ env: Record<string, string>, issued: Issued[], loseNext: () => void, end: () => Promise<void> }>}
 *   `env`: the application's settings; `issued`: oldest first
 */
export async function startTokenRecorder(issuer) {
  /** @type {Issued[]} */
  const issued = [];
  let isNextLost = false;
  const server = createServer((request, response) => void forward(request, response));
  /**
   * @param {import("node:http").IncomingMessage} request
   * @param {import("node:http").ServerResponse} response
   */
  async function forward(request, response) {
    /** @type {Buffer[]} */
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { authorization, "content-type": type = "" } = request.headers;
    const answer = await fetch(`${issuer}/oauth2/token`, {
      method: "POST",
      headers: { "content-type": type, ...(authorization !== undefined && { authorization }) },
      body: Buffer.concat(chunks),
    });
    const body = await answer.text();
    if (answer.ok) issued.push(JSON.parse(body));
    if (isNextLost) {
      isNextLost = false;
      request.socket.destroy();
      return;
    }
    response.writeHead(answer.status, { "content-type": "application/json" }).end(body);
  }
  await new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve(undefined));
  });
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const token_endpoint = `http://127.0.0.1:${port}/oauth2/token`;
  return {
    env: { IDP_PROVIDER_METADATA: JSON.stringify({ token_endpoint }) },
    issued,
    loseNext: () => {
      isNextLost = true;
    },
    end: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/**
 * Runs a step with an application whose tokens are recorded.
 *
 * @param {import("../servers.mjs").Stage} stage
 * @param {import("../application/start.mjs").ApplicationOptions} options
 * @param {(application: import("../application/start.mjs").RunningApplication, recorder: Awaited<ReturnType<typeof startTokenRecorder>>) => Promise<string | undefined>} use
 */
export async function withRecorder(stage, options, use) {
  const recorder = await startTokenRecorder(stage.server.issuer);
  try {
    const env = { ...options.env, ...recorder.env };
    return await stage.withApplication({ ...options, env }, (application) =>
      use(application, recorder),
    );
  } finally {
    await recorder.end();
  }
}
