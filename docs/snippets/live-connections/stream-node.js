import { pipeline } from "node:stream";
import { idpAuth } from "idpauth/node";
import { events, HEADERS } from "./event-stream.js";

const auth = idpAuth();

const stream = auth.idpRequired((request, response) => {
  response.writeHead(200, HEADERS);
  pipeline(events(auth.whenEnded(request)), response, () => {});
});

export const app = auth.listener((request, response) => {
  if (request.url === "/api/stream") return stream(request, response);
  response.writeHead(404).end();
});
