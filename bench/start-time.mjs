// Prints how long an Express application takes to import idpauth and to listen, in a process that
// has loaded only Express: milliseconds, and milliseconds of processor time.
import express from "express";
import { childOptions, idpauthEntry } from "./children.mjs";

const { folder } = childOptions();
const app = express();
const before = process.cpuUsage();
const started = performance.now();
const { idpAuth } = await idpauthEntry("express", folder);
const auth = idpAuth({
  env: {},
  log: false,
  secretKey: "a secret key of the benchmark, longer than it must be",
  issuer: "https://login.example.com",
  clientId: "client",
  clientSecret: "secret",
  baseUrl: "https://app.example.com",
});
auth.mount(app);
app.get("/reports", auth.idpRequired, (_request, response) => response.end());
await new Promise((resolve) => {
  const server = app.listen(0, "127.0.0.1", () => resolve(server));
});
const elapsed = performance.now() - started;
const { user, system } = process.cpuUsage(before);
console.log(JSON.stringify({ elapsed, processor: (user + system) / 1000 }));
process.exit();
