import { createServer } from "node:http";
import express from "express";
import { idpAuth } from "idpauth/express";
import { Server } from "socket.io";

const app = express();
const auth = idpAuth();
auth.mount(app);

const origin = new URL(process.env.BASE_URL ?? "").origin;
export const server = createServer(app);
const io = new Server(server, {
  transports: ["websocket"],
  allowRequest: (request, done) => done(null, request.headers.origin === origin),
});
io.engine.use(auth.idpRequired);

io.on("connection", async (socket) => {
  const request = /** @type {import("express").Request} */ (socket.request);
  const ended = auth.whenEnded(request);
  const close = () => socket.disconnect(true);
  if (ended.aborted) return close();
  ended.addEventListener("abort", close, { once: true });
  const { user } = await auth.requireSession(request);
  socket.emit("hello", user.name);
});
