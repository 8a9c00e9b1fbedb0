import express from "express";
import { idpAuth } from "idpauth/express";

const app = express();
const auth = idpAuth(); // settings come from the environment
auth.mount(app); // startup checks, then /idpauth/*

app.get("/", (req, res) => {
  res.send('<a href="/reports">Reports</a>');
});

app.get("/reports", auth.idpRequired, async (req, res) => {
  const { user } = await auth.requireSession(req);
  res.json({ hello: user.name, email: user.email });
});

const port = process.env["PORT"] ?? 3000;
app.listen(port, (error) => {
  if (error) throw error;
  console.log(`http://localhost:${port}/reports`);
});
