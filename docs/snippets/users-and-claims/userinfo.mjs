import express from "express";
import { idpAuth } from "idpauth/express";

// #region userinfo
const auth = idpAuth({ userinfo: "always" });
// #endregion

export const app = express();
auth.mount(app);
