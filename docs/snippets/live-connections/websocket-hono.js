import { serve, upgradeWebSocket } from "@hono/node-server";
import { Hono } from "hono";
import { idpAuth } from "idpauth/hono";
import { WebSocketServer } from "ws";
import { closeWith } from "./upgrades.js";

const app = new Hono();
const auth = idpAuth();
auth.mount(app);

app.get(
  "/api/ws",
  async (c, next) =>
    c.req.header("origin") === new URL(process.env.BASE_URL ?? "").origin
      ? next()
      : c.body(null, 403),
  auth.idpRequired,
  upgradeWebSocket((c) => ({
    onOpen(_event, { raw }) {
      const socket = /** @type {import("ws").WebSocket} */ (raw);
      closeWith(socket, auth.whenEnded(c), () => {
        socket.on("message", (data) => console.log(String(data)));
        socket.send("hello");
      });
    },
  })),
);

const sockets = new WebSocketServer({ noServer: true, maxPayload: 65_536 });
export const server = serve({
  fetch: app.fetch,
  port: Number(process.env.PORT ?? 3000),
  websocket: { server: /** @type {any} */ (sockets) }, // with exactOptionalPropertyTypes, the types disagree
});

// `serve` leaves an upgrade to another protocol open.
const [upgrade] = server.listeners("upgrade");
server.removeAllListeners("upgrade").on("upgrade", (request, socket, head) => {
  if (request.headers.upgrade?.toLowerCase() === "websocket") upgrade?.(request, socket, head);
  else socket.destroy();
});
