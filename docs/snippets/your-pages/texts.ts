import express from "express";

// #region texts
import { idpAuth } from "idpauth/express";

const auth = idpAuth({
  pages: {
    messages: {
      en: {
        "signedOut.heading": "Welcome",
        "error.retry": "Please wait {duration}.",
        "sessions.hidden": { one: "One more session.", other: "{count} more sessions." },
      },
    },
  },
});
// #endregion

export const app = express();
auth.mount(app);
