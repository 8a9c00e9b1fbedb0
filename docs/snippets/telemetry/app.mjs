import { idpAuth } from "idpauth/express";
// #region instrument
import { instrument } from "idpauth/opentelemetry";

export const auth = idpAuth();
instrument(auth);
// #endregion
