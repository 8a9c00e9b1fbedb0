import express from "express";
import { idpAuth } from "idpauth/express";

export const app = express();
const auth = idpAuth();
auth.mount(app);
const customers = {
  find: (tenant: unknown) => Promise.resolve(tenant === "acme" ? { name: "Acme" } : undefined),
};

// #region tenant
const ofCustomer = auth.idpRequiredWith({
  allow: async ({ claims }) => (await customers.find(claims["tenant"])) !== undefined,
});

app.get("/orders", ofCustomer, async (req, res) => {
  const { claims } = await auth.requireSession(req);
  res.json({ ordersOf: claims["tenant"] });
});
// #endregion
