import express from "express";
import { idpAuth } from "idpauth/express";

export const app = express();

/** @type {Map<string, { email: string | null, name?: string }>} */
const known = new Map();
export const users = {
  /** @param {{ id: string, email: string | null, name?: string }} user */
  async save({ id, ...user }) {
    known.set(id, { ...known.get(id), ...user });
  },
  /** @param {string} id */
  find: (id) => known.get(id),
};

// #region sign-in
const auth = idpAuth({
  async onSignIn({ user, postedName }) {
    const name = [postedName?.given_name, postedName?.family_name].filter(Boolean).join(" ");
    await users.save({ id: user.id, email: user.email, ...(name !== "" && { name }) });
  },
});
// #endregion

auth.mount(app);
