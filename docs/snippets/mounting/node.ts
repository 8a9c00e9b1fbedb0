import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { idpAuth } from "idpauth/node";

const auth = idpAuth();

function app(request: IncomingMessage, response: ServerResponse) {
  response.end("Welcome.");
}

createServer(auth.listener(app)).listen(3000);
