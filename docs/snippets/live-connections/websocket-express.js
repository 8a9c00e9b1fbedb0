import { createServer } from "node:http";
import express from "express";
import { idpAuth } from "idpauth/express";
import { accept, hasOwnOrigin, routeUpgrades } from "./upgrades.js";

const app = express();
const auth = idpAuth();
auth.mount(app);

// #region websocket
app.get(
  "/api/ws",
  (request, response, next) => (hasOwnOrigin(request) ? next() : response.sendStatus(403)),
  auth.idpRequired,
  (request, response) =>
    accept(request, response, auth.whenEnded(request), (socket) => {
      socket.on("message", (data) => console.log(String(data)));
      socket.send("hello");
    }),
);

export const server = createServer(app);
routeUpgrades(server, app);
// #endregion
