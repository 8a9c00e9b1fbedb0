import express from "express";

export const app = express();

// #region staff
import { deny, emailDomain } from "idpauth";
import { idpAuth } from "idpauth/express";

const isStaff = emailDomain("example.com");

const auth = idpAuth({
  onSignIn({ claims }) {
    if (!isStaff({ claims })) return deny("Only staff may sign in.");
  },
});
auth.mount(app);
// #endregion
