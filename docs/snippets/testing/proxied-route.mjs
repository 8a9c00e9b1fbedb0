import { once } from "node:events";
import { createServer } from "node:http";
import express from "express";
import { idpAuth } from "idpauth/express";
import { signIn, startTestApi, startTestProvider } from "idpauth/testing";
import { expect } from "vitest";
import { WebSocket } from "ws";

/** @param {import("idpauth").IdpAuthOptions} options */
function createApp(options) {
  const auth = idpAuth(options);
  const app = express();
  auth.mount(app);
  app.use(auth.proxyApi("orders"));
  const server = createServer(app);
  server.on("upgrade", (...upgrade) => auth.proxyUpgrade(...upgrade) || upgrade[1].destroy());
  return { app: server, auth };
}

// #region route
const provider = await startTestProvider();
const api = await startTestApi(provider);
const apis = { orders: { url: api.url, path: "/api/orders/" } };
const { app } = createApp({ env: provider.env, clock: provider.clock, apis });
const user = await signIn(app, { email: "ada@example.com" });
expect((await user.get("/api/orders/items?open=true")).status).toBe(200);
// #endregion
expect(api.requests[0]?.path).toBe("/items?open=true");
expect(api.requests[0]?.headers.cookie).toBeUndefined();

// #region refused
api.refuseNext();
expect((await user.get("/api/orders/items")).status).toBe(200);
expect(provider.requestsTo("token", { grant_type: "refresh_token" })).toHaveLength(1);
// #endregion

// #region step-up
api.requireStepUp({ maxAge: 300 }); // seconds
provider.clock.advance(600_000); // milliseconds
const demanded = await user.get("/api/orders/items");
expect(demanded.status).toBe(401);
await user.follow(demanded.json().login_url); // the user signs in again
expect((await user.get("/api/orders/items")).status).toBe(200);
// #endregion

// #region socket
const socket = new WebSocket(new URL("/api/orders/socket", user.origin), {
  headers: { cookie: user.cookie, origin: user.origin },
});
await once(socket, "open");
socket.send("hello");
const [message] = await once(socket, "message");
expect(String(message)).toBe("hello");
// #endregion
const closed = once(socket, "close");

// #region stream
const stream = await fetch(new URL("/api/orders/stream", user.origin), {
  headers: { cookie: user.cookie },
});
const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
api.send("shipped");
expect((await reader?.read())?.value).toContain("data: shipped");
await user.follow("/idpauth/logout/");
await expect(reader?.read()).rejects.toThrow(); // the session has ended
// #endregion
await closed;

await user.close();
await api.stop();
await provider.stop();
