// #region express
import express from "express";
import { idpAuth } from "idpauth/express";

const app = express();
const auth = idpAuth();
auth.mount(app);
app.use(auth.csrf);

app.post("/api/items", auth.idpRequired, (request, response) => response.json({ created: true }));
// #endregion

export { app };
