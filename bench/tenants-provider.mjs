// The providers of many customers on one server: /t/KEY is the issuer of the customer with this
// key. A code and a refresh token say themselves who signs in, so a provider remembers nothing.
import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { childOptions, serveCalls } from "./children.mjs";

/** Published keys, and whether each comes with a certificate, as a large provider's do. */
const { keys = 2, certificates = false } = childOptions();
/** Base64 characters of a certificate of 1 kB. */
const CERTIFICATE_BYTES = 1_000;
const TOKEN_SECONDS = 3_600;

const pairs = Array.from({ length: keys }, () =>
  generateKeyPairSync("rsa", { modulusLength: 2_048 }),
);
const published = pairs.map(({ publicKey }) => publicKey.export({ format: "jwk" }));
/** Milliseconds by which the clock is ahead. */
let ahead = 0;
/** Requests by the customer's key. */
const requests = new Map();
/** Keys that accept connections and never answer, and the requests that they have. */
let hanging = new Set();
const held = new Set();

const encoded = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
const decoded = (part) => JSON.parse(Buffer.from(part, "base64url").toString());

function document(issuer) {
  const endpoints = Object.fromEntries(
    ["authorization", "token", "end_session", "revocation"].map((name) => [
      `${name}_endpoint`,
      `${issuer}/oauth2/v2.0/${name}`,
    ]),
  );
  return {
    issuer,
    ...endpoints,
    jwks_uri: `${issuer}/discovery/keys`,
    token_endpoint_auth_methods_supported: ["client_secret_post", "client_secret_basic"],
    response_modes_supported: ["query", "fragment", "form_post"],
    response_types_supported: ["code", "id_token", "code id_token", "id_token token"],
    subject_types_supported: ["pairwise"],
    id_token_signing_alg_values_supported: ["RS256"],
    scopes_supported: ["openid", "profile", "email", "offline_access"],
    claims_supported: ["sub", "iss", "aud", "exp", "iat", "nonce", "name", "email", "sid"],
    code_challenge_methods_supported: ["S256"],
    authorization_response_iss_parameter_supported: false,
  };
}

const keySet = (key) => ({
  keys: published.map((jwk, index) => ({
    ...jwk,
    kid: `${key}-${index}`,
    use: "sig",
    alg: "RS256",
    ...(certificates && { x5c: [randomBytes(CERTIFICATE_BYTES).toString("base64")] }),
  })),
});

function tokens(key, issuer, form) {
  const { sub, nonce } = decoded(form.get("code") ?? form.get("refresh_token"));
  const iat = Math.floor((Date.now() + ahead) / 1_000);
  const claims = { iss: issuer, aud: "client", sub, nonce, iat, exp: iat + TOKEN_SECONDS };
  const signed = `${encoded({ alg: "RS256", kid: `${key}-0` })}.${encoded({ ...claims, email: `${sub}@${key}.example` })}`;
  const signature = sign("sha256", Buffer.from(signed), pairs[0].privateKey);
  return {
    token_type: "Bearer",
    expires_in: TOKEN_SECONDS,
    access_token: randomBytes(32).toString("base64url"),
    refresh_token: encoded({ sub }),
    id_token: `${signed}.${signature.toString("base64url")}`,
    scope: "openid profile email offline_access",
  };
}

const server = createServer((request, response) => {
  const [, , key, ...rest] = new URL(request.url, "http://provider").pathname.split("/");
  requests.set(key, (requests.get(key) ?? 0) + 1);
  if (hanging.has(key)) {
    held.add(response);
    return;
  }
  const issuer = `http://127.0.0.1:${server.address().port}/t/${key}`;
  respond(request, { key, issuer, path: rest.join("/") }).then((body) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(body));
  });
});

async function respond(request, { key, issuer, path }) {
  if (path === ".well-known/openid-configuration") return document(issuer);
  if (path === "discovery/keys") return keySet(key);
  return tokens(key, issuer, new URLSearchParams(await text(request)));
}

server.listen(0, "127.0.0.1");
await new Promise((resolve) => server.once("listening", resolve));

serveCalls({
  origin: () => `http://127.0.0.1:${server.address().port}`,
  /** How many requests the provider of this key has had. */
  requests: (key) => requests.get(key) ?? 0,
  advance: (milliseconds) => void (ahead += milliseconds),
  /** From now on these keys, and no others, never answer. What they hold is broken off. */
  hang(names) {
    hanging = new Set(names);
    for (const response of held) response.destroy();
    const count = held.size;
    held.clear();
    return count;
  },
});
