import websocket from "@fastify/websocket";
import Fastify from "fastify";
import { idpAuth } from "idpauth/fastify";
import { closeWith, hasOwnOrigin } from "./upgrades.js";

export const app = Fastify();
const auth = idpAuth();

// #region websocket
await app.register(websocket, { options: { maxPayload: 65_536 } });
await app.register(auth.plugin);

app.get(
  "/api/ws",
  {
    websocket: true,
    preHandler: [
      async (request, reply) => (hasOwnOrigin(request.raw) ? undefined : reply.code(403).send()),
      auth.idpRequired,
    ],
  },
  (socket, request) => {
    closeWith(socket, auth.whenEnded(request), () => {
      socket.on("message", (data) => console.log(String(data)));
      socket.send("hello");
    });
  },
);
// #endregion
