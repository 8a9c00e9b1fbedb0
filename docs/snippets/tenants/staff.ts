import express from "express";
import { customers } from "./database.js";

export const app = express();

// #region staff
import { providerSource } from "idpauth";
import { idpAuth } from "idpauth/express";

const auth = idpAuth({
  providers: [
    {
      staff: {
        issuer: process.env["STAFF_ISSUER"],
        clientId: process.env["STAFF_CLIENT_ID"],
        clientSecret: process.env["STAFF_CLIENT_SECRET"],
      },
    },
    providerSource({ find: (key) => customers.provider(key) }),
  ],
});
auth.mount(app);

app.use("/support", auth.idpRequiredWith({ provider: "staff" }));
// #endregion

app.get("/support", (req, res) => res.json("support"));
