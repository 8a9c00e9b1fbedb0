import { readFileSync } from "node:fs";
import fastify from "fastify";
import { idpAuth } from "idpauth/fastify";

const app = fastify();
const auth = idpAuth();
await app.register(auth.plugin);

// #region client
const client = readFileSync(new URL(import.meta.resolve("idpauth/client/browser")));
app.get("/idpauth-client.js", (request, reply) => reply.type("text/javascript").send(client));
// #endregion

export { app };
