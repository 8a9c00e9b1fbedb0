import express from "express";
import { idpAuth } from "idpauth/express";
// #region helmet
import helmet from "helmet";

const app = express();
app.use(
  helmet({
    contentSecurityPolicy: {
      directives: {
        // where a form that signs out ends: the origin of the provider's end_session_endpoint
        "form-action": ["'self'", new URL(String(process.env.IDP_ISSUER)).origin],
        // the user's picture
        "img-src": ["'self'", "data:", "https:"],
      },
    },
  }),
);
// #endregion

const auth = idpAuth();
auth.mount(app);
app.use(auth.csrf);

export { app };
