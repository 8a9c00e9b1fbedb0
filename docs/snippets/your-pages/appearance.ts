import express from "express";

// #region appearance
import { idpAuth } from "idpauth/express";

const auth = idpAuth({
  pages: {
    name: "Example Shop",
    logo: { src: "/logo.svg", width: 160, height: 40 },
    colors: { accent: "#0a5c36", dark: { accent: "#7ddba9" } },
    homeHref: "/",
    locale: "auto",
    messages: { de: { "signedOut.text": "Melden Sie sich mit Ihrem Kundenkonto an." } },
  },
});
// #endregion

export const app = express();
auth.mount(app);
