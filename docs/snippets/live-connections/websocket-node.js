import { createServer } from "node:http";
import { idpAuth } from "idpauth/node";
import { accept, hasOwnOrigin, routeUpgrades } from "./upgrades.js";

const auth = idpAuth();

// #region websocket
const open = auth.idpRequired((request, response) =>
  accept(request, response, auth.whenEnded(request), (socket) => {
    socket.on("message", (data) => console.log(String(data)));
    socket.send("hello");
  }),
);

const listener = auth.listener((request, response) => {
  if (request.url === "/api/ws" && hasOwnOrigin(request)) return open(request, response);
  response.writeHead(request.url === "/api/ws" ? 403 : 404).end();
});

export const server = createServer(listener);
routeUpgrades(server, listener);
// #endregion
