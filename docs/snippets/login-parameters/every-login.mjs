import express from "express";
import { idpAuth } from "idpauth/express";

export const app = express();

// #region every-login
const auth = idpAuth({ authorizationParams: { audience: "https://api.example.com" } });
auth.mount(app);
// #endregion
