import { pipeline } from "node:stream";
import express from "express";
import { idpAuth } from "idpauth/express";
import { events, HEADERS } from "./event-stream.js";

const app = express();
const auth = idpAuth();
auth.mount(app);

app.get("/api/stream", auth.idpRequired, (request, response) => {
  response.set(HEADERS);
  pipeline(events(auth.whenEnded(request)), response, () => {});
});
