// #region mount
import express from "express";
import { idpAuth } from "idpauth/express";

const app = express();
const auth = idpAuth();
auth.mount(app);
// #endregion

export { app };
