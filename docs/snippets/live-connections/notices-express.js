import { pipeline } from "node:stream";
import express from "express";
import { idpAuth } from "idpauth/express";
import { HEADERS } from "./event-stream.js";
import { noticeEvents } from "./notices.js";

const app = express();
const auth = idpAuth();
auth.mount(app);

app.get("/api/notices", auth.idpRequired, (request, response) => {
  const disconnected = new AbortController();
  response.on("close", () => disconnected.abort());
  response.set(HEADERS).flushHeaders();
  pipeline(noticeEvents(auth.whenEnded(request), disconnected.signal), response, () => {});
});
