import express from "express";
import { idpAuth } from "idpauth/express";

export const app = express();
const auth = idpAuth();
auth.mount(app);

app.get("/wait", auth.idpRequired, (request, response) => {
  // #region ended
  const ended = auth.whenEnded(request);
  // session_ended logged_out_at_provider
  ended.addEventListener("abort", () => console.log(ended.reason.code, ended.reason.reason));
  // #endregion
  ended.addEventListener("abort", () => response.end());
  response.flushHeaders();
});
