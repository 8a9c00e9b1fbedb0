import express from "express";
import { idpAuth } from "idpauth/express";

export const app = express();

// #region streamed
const auth = idpAuth({
  apis: {
    chat: {
      url: "https://chat.internal/v1/",
      path: "/api/chat/",
      responseHeaders: { "Cache-Control": "private, no-store, no-transform" },
    },
  },
});
// #endregion
auth.mount(app);
app.use(auth.proxyApi("chat"));
