// The API with the orders. It checks the access tokens of both providers.
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { createRemoteJWKSet, decodeJwt, jwtVerify } from "jose";

const issuers = (process.env["ORDERS_ISSUERS"] ?? "").split(" ");
const keys = new Map(
  await Promise.all(issuers.map(async (issuer) => [issuer, await keysOf(issuer)])),
);
const orders = [];

async function keysOf(issuer) {
  const discovery = await fetch(`${issuer}/.well-known/openid-configuration`);
  return createRemoteJWKSet(new URL((await discovery.json()).jwks_uri));
}

/** Returns the user of an access token. */
async function userOf(token) {
  const { iss = "" } = decodeJwt(token);
  const key = keys.get(iss);
  if (key === undefined) throw new Error("The token is of another issuer.");
  // Without `audience` in the application's `apis`, the development provider's tokens are for its issuer.
  const { payload } = await jwtVerify(token, key, { issuer: iss, audience: iss, typ: "at+jwt" });
  return payload.sub;
}

const server = createServer(async (request, response) => {
  const respond = (status, body) =>
    response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
  try {
    const by = await userOf(request.headers.authorization?.replace(/^Bearer /, "") ?? "");
    if (request.method !== "POST") return respond(200, orders);
    const { article } = await json(request);
    orders.push({ id: orders.length + 1, article: String(article).slice(0, 100), by });
    return respond(201, orders.at(-1));
  } catch {
    return respond(401, { error: "invalid_token" });
  }
});
server.listen(Number(process.env["PORT"] ?? 4000), "127.0.0.1", () => {
  console.log(`http://localhost:${server.address().port}/`);
});

process.once("SIGTERM", () => {
  server.close(); // requests that have begun get their response
  setTimeout(() => server.closeAllConnections(), 3000).unref(); // if a request never completes
});
