// #region list
import express from "express";
import { idpAuth } from "idpauth/express";

const app = express();
app.set("trust proxy", 1);

const auth = idpAuth({
  baseUrl: ["https://app.example.com", "https://*.app.example.com"],
});
auth.mount(app);
// #endregion

export { app };
