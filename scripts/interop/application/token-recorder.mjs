// Stands between the application and the provider's token endpoint: keeps what the provider issued, so
// that a step can use a token as its thief would, and can lose a response.
import { createServer } from "node:http";

/**
 * @typedef {object} Issued
 * @property {string} access_token
 * @property {string} [refresh_token]
 * @property {string} [id_token]
 *
 * @typedef {object} Recorder
 * @property {Record<string, string>} env the application's settings
 * @property {string} provider the provider's own token endpoint
 * @property {Issued[]} issued oldest first
 * @property {() => void} loseNext the next response doesn't reach the application
 * @property {() => Promise<void>} end
 */

/**
 * @param {string} issuer
 * @returns {Promise<Recorder>}
 */
async function startTokenRecorder(issuer) {
  const provider = await tokenEndpointOf(issuer);
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
    const answer = await fetch(provider, {
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
  const token_endpoint = `http://127.0.0.1:${port}/token`;
  return {
    env: { IDP_PROVIDER_METADATA: JSON.stringify({ token_endpoint }) },
    provider,
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

/** @param {string} issuer */
async function tokenEndpointOf(issuer) {
  const answer = await fetch(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`);
  const { token_endpoint } = /** @type {{ token_endpoint: string }} */ (await answer.json());
  return token_endpoint;
}

/**
 * Runs a step with an application whose tokens are recorded.
 *
 * @param {import("../servers.mjs").Stage} stage
 * @param {import("./start.mjs").ApplicationOptions} options
 * @param {(application: import("./start.mjs").RunningApplication, recorder: Recorder) => Promise<string | undefined>} use
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
