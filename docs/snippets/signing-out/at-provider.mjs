import express from "express";
import { idpAuth } from "idpauth/express";

const auth =
  // #region at-provider
  idpAuth({ logoutAtProvider: true }); // or IDP_LOGOUT_AT_PROVIDER=on
// #endregion

export const app = express();
auth.mount(app);
