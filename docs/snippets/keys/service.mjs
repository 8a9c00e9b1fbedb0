import express from "express";
import { idpAuth } from "idpauth/express";
import { keyService } from "./key-service.mjs";

export const app = express();

// #region service
const auth = idpAuth({
  privateKey: {
    kid: "idpauth-2026",
    alg: "ES256",
    sign: (input) => keyService.sign(input),
  },
});
// #endregion
auth.mount(app);
