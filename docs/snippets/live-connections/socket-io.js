import { createServer } from "node:http";
import express from "express";
import { idpAuth } from "idpauth/express";
import { Server } from "socket.io";

const app = express();
const auth = idpAuth();
auth.mount(app);

const origin = new URL(process.env.BASE_URL ?? "").origin;
export const server = createServer(app);
// Without a listener, a connection that breaks off during the guard's response ends the process.
server.on("upgrade", (_request, connection) => connection.on("error", () => connection.destroy()));
const io = new Server(server, {
  transports: ["websocket"],
  allowRequest: (request, done) => done(null, request.headers.origin === origin),
});
/**
 * @param {import("express").Request} request
 * @param {import("express").Response} _response
 * @param {() => void} next
 */
const endWithSession = (request, _response, next) => {
  const destroy = () => setTimeout(() => request.socket.destroy(), 1000); // if the browser stays
  auth.whenEnded(request).addEventListener("abort", destroy, { once: true });
  next();
};
io.engine.use(auth.idpRequired);
io.engine.use(endWithSession);

io.on("connection", async (socket) => {
  const request = /** @type {import("express").Request} */ (socket.request);
  const ended = auth.whenEnded(request);
  const close = () => socket.disconnect(true);
  if (ended.aborted) return close();
  ended.addEventListener("abort", close, { once: true });
  const { user } = await auth.requireSession(request);
  socket.emit("hello", user.name);
});
