import express from "express";
import { customers } from "./database.js";

export const app = express();

// #region staff
import { providerSource } from "idpauth";
import { idpAuth } from "idpauth/express";

const auth = idpAuth({
  providers: [
    { staff: { name: "Example staff" } }, // with IDP_PROVIDER_STAFF_ISSUER and so on
    providerSource({ find: (key) => customers.provider(key) }),
  ],
});
auth.mount(app);

app.use("/support", auth.idpRequiredWith({ provider: "staff" }));
// #endregion

app.get("/support", (req, res) => res.json("support"));
