import express from "express";
import { idpAuth } from "idpauth/express";

/** @type {import("idpauth").ClaimsSchema<{ groups: string[] }>} */
const schema = {
  "~standard": {
    version: 1,
    vendor: "the application",
    validate: (claims) => {
      const { groups } = /** @type {{ groups?: string[] }} */ (claims);
      return groups === undefined
        ? { issues: [{ message: "groups is missing" }] }
        : { value: { groups } };
    },
  },
};

// #region version
const auth = idpAuth({ claims: schema, claimsVersion: "2" });
// #endregion

export const app = express();
auth.mount(app);
app.get("/groups", auth.idpRequired, async (req, res) => {
  const { claims } = await auth.requireSession(req);
  res.json(claims.groups);
});
