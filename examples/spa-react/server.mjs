// @ts-check
import path from "node:path";
import fastifyStatic from "@fastify/static";
import fastify from "fastify";
import { idpAuth } from "idpauth/fastify";

const POLICY = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'";

const app = fastify();
const auth = idpAuth(); // settings come from the environment, such as IDP_SESSION_IDLE_TIMEOUT
await app.register(auth.plugin); // startup checks, then /idpauth/*
app.addHook("onRequest", auth.csrf); // 403 for unsafe requests of other origins

const items = [{ id: 1, text: "Order punched cards" }];
app.get("/api/items", { onRequest: auth.idpRequired }, () => items);

const schema = { body: { type: "object", required: ["text"], properties: { text: { type: "string", minLength: 1, maxLength: 100 } } } };
app.post("/api/items", { onRequest: auth.idpRequired, schema }, (request) => {
  const { text } = /** @type {{ text: string }} */ (request.body);
  items.push({ id: items.length + 1, text });
  return items;
});

app.addHook("onRequest", async (_request, reply) => void reply.header("Content-Security-Policy", POLICY));
await app.register(fastifyStatic, { root: path.join(import.meta.dirname, "dist") });
// The script in the page shows the views, so every address but those of the API and of files leads to the same page.
app.setNotFoundHandler((request, reply) => {
  const isView = ["GET", "HEAD"].includes(request.method) && !/^\/api\/|\.\w+(\?|$)/.test(request.url);
  return isView ? reply.sendFile("index.html") : reply.code(404).send({ error: "not_found" });
});

const address = await app.listen({ port: Number(process.env["PORT"] ?? 3000), host: "localhost" });
console.log(`http://localhost:${new URL(address).port}/`);
