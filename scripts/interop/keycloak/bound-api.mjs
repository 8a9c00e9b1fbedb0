// An API that demands proof of possession with each access token: a DPoP proof (RFC 9449) with a nonce
// of its own, or the certificate that the token is bound to (RFC 8705).
import { createHash, randomUUID } from "node:crypto";
import { createServer } from "node:https";
import { TLSSocket } from "node:tls";
import { calculateJwkThumbprint, createRemoteJWKSet, EmbeddedJWK, jwtVerify } from "jose";

/** Seconds that a proof may be old. */
const PROOF_AGE = 60;

/**
 * @typedef {object} BoundApi
 * @property {string} url
 * @property {() => ReadonlyMap<string, ReadonlySet<string>>} keys thumbprints that each user's requests
 *   were bound to, by subject
 * @property {() => string} newestToken that it has accepted
 * @property {() => number} demands how many requests got a nonce instead of a response
 * @property {() => void} end
 *
 * @typedef {object} BoundApiOptions
 * @property {"dpop" | "certificate"} by
 * @property {string} issuer
 * @property {string} jwks address of the provider's keys
 * @property {import("../../certificate.mjs").Certificate} certificate the API's own
 */

/** A request that lacks what its token is bound to. */
class Refused extends Error {}

/** The proof has no nonce, or not the newest one. */
class NonceDemanded extends Refused {}

/**
 * @param {BoundApiOptions} options
 * @returns {Promise<BoundApi>}
 */
export async function startBoundApi({ by, issuer, jwks, certificate }) {
  const providerKeys = createRemoteJWKSet(new URL(jwks));
  /** @type {Map<string, Set<string>>} */
  const keys = new Map();
  const proofs = createProofs();
  let demands = 0;
  let newestToken = "";
  /** @param {import("node:http").IncomingMessage} request */
  const caller = async (request) => {
    const scheme = by === "dpop" ? /^DPoP (.+)$/i : /^Bearer (.+)$/i;
    const [, token] = scheme.exec(request.headers.authorization ?? "") ?? [];
    if (token === undefined) throw new Refused("the token has another scheme");
    const { payload } = await jwtVerify(token, providerKeys, { issuer });
    const { cnf = {}, sub = "" } = /** @type {{ cnf?: Record<string, string>, sub?: string }} */ (
      payload
    );
    const shown = by === "dpop" ? await proofs.keyOf(request, token) : thumbprintOf(request);
    const bound = by === "dpop" ? cnf["jkt"] : cnf["x5t#S256"];
    if (bound === undefined || bound !== shown)
      throw new Refused(`the token is bound to ${bound}, the request to ${shown}`);
    newestToken = token;
    keys.set(sub, (keys.get(sub) ?? new Set()).add(shown));
    return { sub };
  };
  const server = createServer(
    { ...certificate, requestCert: by === "certificate", rejectUnauthorized: false },
    (request, response) => {
      const headers = { "content-type": "application/json" };
      caller(request)
        .then((seen) => {
          response.writeHead(200, headers).end(JSON.stringify(seen));
        })
        .catch((/** @type {unknown} */ error) => {
          if (error instanceof NonceDemanded) demands += 1;
          response
            .writeHead(401, { ...headers, ...proofs.challenge(error) })
            .end(JSON.stringify({ refused: error instanceof Error ? error.message : "unknown" }));
        });
    },
  );
  await new Promise((resolve) => {
    server.listen(0, () => resolve(undefined));
  });
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return {
    url: `https://localhost:${port}/`,
    keys: () => keys,
    newestToken: () => newestToken,
    demands: () => demands,
    end() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Checks DPoP proofs, and demands a new nonce after each one that it has accepted. */
function createProofs() {
  let nonce = randomUUID();
  /** @type {Set<unknown>} */
  const seen = new Set();
  return {
    /**
     * @param {import("node:http").IncomingMessage} request
     * @param {string} token
     * @returns {Promise<string>} the thumbprint of the proof's key
     */
    async keyOf({ headers, method, url = "/" }, token) {
      const proof = headers["dpop"];
      if (typeof proof !== "string") throw new Refused("the request has no proof");
      const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
        typ: "dpop+jwt",
        algorithms: ["ES256"],
        maxTokenAge: PROOF_AGE,
      });
      const expected = {
        htm: method,
        htu: new URL(url.split("?")[0] ?? url, `https://${headers.host}`).href,
        ath: createHash("sha256").update(token).digest("base64url"),
      };
      for (const [name, value] of Object.entries(expected))
        if (payload[name] !== value) throw new Refused(`${name} is ${String(payload[name])}`);
      if (payload.jti === undefined || seen.has(payload.jti)) throw new Refused("a replayed proof");
      seen.add(payload.jti);
      if (payload.nonce !== nonce) throw new NonceDemanded("another nonce is demanded");
      nonce = randomUUID();
      return calculateJwkThumbprint(/** @type {import("jose").JWK} */ (protectedHeader.jwk));
    },
    /**
     * @param {unknown} error
     * @returns {Record<string, string>} the headers of its response
     */
    challenge: (error) =>
      error instanceof NonceDemanded
        ? { "www-authenticate": 'DPoP error="use_dpop_nonce"', "dpop-nonce": nonce }
        : { "www-authenticate": 'DPoP error="invalid_token"' },
  };
}

/** @param {import("node:http").IncomingMessage} request */
function thumbprintOf({ socket }) {
  const shown = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined;
  if (shown === undefined) throw new Refused("the request shows no certificate");
  return createHash("sha256").update(shown.raw).digest("base64url");
}
