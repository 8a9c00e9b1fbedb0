import express from "express";
import { ApiTokenError } from "idpauth";
import { idpAuth } from "idpauth/express";

export const app = express();

const auth = idpAuth({
  apis: {
    billing: {
      url: "https://billing.internal/",
      audience: "https://billing.example.com",
      consent: "later",
    },
  },
});
auth.mount(app);

// #region consent
app.get("/invoices", auth.idpRequired, async (req, res) => {
  try {
    const response = await auth.fetchApi(req, "billing", "invoices");
    res
      .status(response.ok ? 200 : 502)
      .json(response.ok ? await response.json() : { error: "billing_unavailable" });
  } catch (error) {
    if (!(error instanceof ApiTokenError) || error.loginUrl === undefined) throw error;
    res.status(401).json({ authenticated: true, login_url: error.loginUrl });
  }
});
// #endregion
