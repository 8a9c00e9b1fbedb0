// An application that takes every file descriptor of its process when the test says so. Its
// providers and what getAccessToken needs answer without sockets. The code of a login is its nonce.
import { closeSync, openSync } from "node:fs";
import express from "express";
import { idpAuth } from "idpauth/express";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { settled } from "idpauth/testing";

// When the test is gone, however it went, so is its process.
process.on("disconnect", () => process.exit(1));

const api = process.argv[2] ?? "";
const clientId = "client-id";
const { privateKey, publicKey } = await generateKeyPair("ES256");
const keys = [{ ...(await exportJWK(publicKey)), kid: "key", alg: "ES256" }];

/** @param {string} issuer @param {string | null} nonce */
async function tokens(issuer, nonce) {
  const claims = new SignJWT({ sub: "ada", ...(nonce !== null && { nonce }) })
    .setProtectedHeader({ alg: "ES256", kid: "key" })
    .setIssuer(issuer)
    .setAudience(clientId)
    .setIssuedAt()
    .setExpirationTime("1h");
  return {
    access_token: "access-token",
    refresh_token: "refresh-token",
    token_type: "bearer",
    expires_in: 3600,
    id_token: await claims.sign(privateKey),
  };
}

/** @type {typeof globalThis.fetch} */
const fetch = async (input, init) => {
  const asked = new Request(input, init);
  const { origin: issuer, pathname } = new URL(asked.url);
  if (pathname === "/jwks") return Response.json({ keys });
  if (pathname === "/token")
    return Response.json(await tokens(issuer, new URLSearchParams(await asked.text()).get("code")));
  return Response.json({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    end_session_endpoint: `${issuer}/logout`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ["code"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["ES256"],
  });
};

/** @param {string} name */
const provider = (name) => ({
  name,
  issuer: `https://${name}.example`,
  clientId,
  clientSecret: "client-secret",
});
const auth = idpAuth({
  env: {},
  secretKey: "a key of at least thirty-two bytes",
  baseUrl: "http://app.example",
  scope: ["openid", "email", "profile"],
  providers: { staff: provider("staff"), guests: provider("guests") },
  sessionsPage: true,
  logoutAtProvider: true,
  events: true,
  backchannelLogout: true,
  pages: { locale: "auto" },
  apis: {
    orders: { url: api, path: "/orders/", resource: "https://orders.example", provider: "staff" },
  },
  log: ({ code }) => process.send?.({ code }),
  fetch,
});

/** @type {number[]} */
const taken = [];
/** @type {Record<string, () => number>} */
const commands = {
  take() {
    for (;;) {
      try {
        taken.push(openSync("/dev/null", "r"));
      } catch {
        return taken.length;
      }
    }
  },
  release() {
    taken.splice(0).forEach((descriptor) => closeSync(descriptor));
    return 0;
  },
};

const app = express();
auth.mount(app);
app.get("/ready", async (_request, response) => {
  await settled(auth);
  response.end();
});
app.get("/descriptors/:command", (request, response) => {
  response.end(String(commands[request.params.command]?.()));
});
app.get("/token", async (request, response) => {
  response.end(await auth.getAccessToken(request, { api: "orders" }));
});
app.use(auth.proxyApi("orders"));

const server = app.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.send?.({ port: typeof address === "object" ? address?.port : undefined });
});
server.keepAliveTimeout = 300_000;
