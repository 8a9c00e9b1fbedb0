import express from "express";
import { idpAuth } from "idpauth/express";

export const app = express();

// #region table
const auth = idpAuth({
  apis: {
    orders: { url: "https://orders.internal/v2/", resource: "https://orders.example.com" },
    billing: { url: "https://billing.internal/", audience: "https://billing.example.com" },
    calendar: {
      url: "https://www.googleapis.com/calendar/v3/",
      scope: ["https://www.googleapis.com/auth/calendar.readonly"],
    },
  },
});
// #endregion
auth.mount(app);

app.get("/calls", auth.idpRequired, async (req, res) => {
  const names = /** @type {const} */ (["orders", "billing", "calendar"]);
  const responses = await Promise.all(names.map((api) => auth.fetchApi(req, api, "me")));
  res.json(responses.map(({ status }) => status));
});
