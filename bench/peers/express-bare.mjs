// Express without sign-in, for the throughput of each peer that is compared with it. FOLDER is the
// peer's folder, so that both run the same version of Express; PROBE is the JSON of /session.
import { createRequire } from "node:module";

const { PORT, FOLDER, PROBE } = process.env;

const express = createRequire(`${FOLDER}/`)("express");
const app = express();
app.get("/page", (request, response) => void response.json({ user: "ada" }));
if (PROBE !== undefined) {
  const session = JSON.parse(PROBE);
  app.get("/session", (request, response) => void response.json(session));
}
app.listen(Number(PORT), "127.0.0.1");
