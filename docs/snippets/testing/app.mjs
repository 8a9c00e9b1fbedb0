import express from "express";
import { idpAuth } from "idpauth/express";

/** @param {import("idpauth").IdpAuthOptions} options */
export function createApp(options) {
  const app = express();
  const auth = idpAuth(options);
  auth.mount(app);
  return { app, auth };
}
