import express from "express";
import { idpAuth } from "idpauth/express";

const app = express();
const auth = idpAuth(); // settings come from the environment
auth.mount(app); // startup checks, then /idpauth/*

app.get("/", (req, res) => {
  res.send('<a href="/reports">Reports</a>');
});

app.get("/reports", auth.idpRequired, async (req, res) => {
  const { user } = await auth.requireSession(req); // the session that the guard saw
  res.json({ hello: user.name, email: user.email });
});

const port = process.env["PORT"] ?? 3000;
const server = app.listen(port, (error) => {
  if (error) throw error;
  console.log(`http://localhost:${port}/reports`);
});

process.once("SIGTERM", async () => {
  server.close(); // no new connections
  await auth.close(); // ends event streams, and waits for running refreshes
});
