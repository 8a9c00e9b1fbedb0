import { Hono } from "hono";
import { idpAuth } from "idpauth/hono";
import { sendNotices } from "./notices.js";

const app = new Hono();
const auth = idpAuth();
auth.mount(app);

// #region stream
app.get("/api/stream", auth.idpRequired, async (c) => {
  const stream = await auth.eventStream(c);
  sendNotices(stream);
  return stream.response;
});
// #endregion
