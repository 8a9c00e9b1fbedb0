import express from "express";
import { customers, decrypt } from "./database.js";

export const app = express();

// #region source
import { providerSource } from "idpauth";
import { idpAuth } from "idpauth/express";

const auth = idpAuth({
  providers: providerSource({
    async find(key) {
      const customer = await customers.find(key); // your database
      if (customer === undefined) return undefined;
      return {
        issuer: customer.issuer,
        clientId: customer.clientId,
        clientSecret: decrypt(customer.encryptedSecret),
        emailDomains: customer.domains,
      };
    },
    async findByEmailDomain(domain) {
      const customer = await customers.findByDomain(domain);
      return customer?.key;
    },
    // Only for development: hosts that may have private addresses.
    internalHosts: process.env["INTERNAL_HOSTS"]?.split(" ") ?? [],
  }),
});
auth.mount(app);
// #endregion

// #region guard
const ofCustomer = auth.idpRequiredWith({ provider: (req) => req.params.org });

app.get("/t/:org/reports", ofCustomer, async (req, res) => {
  const { user } = await auth.requireSession(req);
  res.json({ customer: user.provider, hello: user.name });
});
// #endregion
