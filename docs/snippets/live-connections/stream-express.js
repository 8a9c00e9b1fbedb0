import express from "express";
import { idpAuth } from "idpauth/express";
import { sendNotices } from "./notices.js";

const app = express();
const auth = idpAuth();
auth.mount(app);

// #region stream
app.get("/api/stream", auth.idpRequired, async (request, response) => {
  sendNotices(await auth.eventStream(request, response));
});
// #endregion
