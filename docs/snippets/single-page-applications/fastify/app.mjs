// @ts-check
import path from "node:path";
import fastifyStatic from "@fastify/static";
import fastify from "fastify";
import { idpAuth } from "idpauth/fastify";

const POLICY =
  "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'";

/** @param {import("idpauth").IdpAuthOptions} [options] tests pass their own */
export async function createApp(options) {
  const app = fastify();
  const auth = idpAuth(options); // settings come from the environment
  await app.register(auth.plugin); // startup checks, then /idpauth/*
  app.addHook("onRequest", auth.csrf); // 403 for cross-site requests that could change something

  const items = [{ id: 1, text: "Order punched cards" }];
  app.get("/api/items", { preHandler: auth.idpRequired }, async () => items);

  const text = { type: "string", minLength: 1, maxLength: 100 };
  const body = { type: "object", required: ["text"], properties: { text } };
  app.post("/api/items", { preHandler: auth.idpRequired, schema: { body } }, async (request) => {
    const { text } = /** @type {{ text: string }} */ (request.body);
    items.push({ id: items.length + 1, text });
    return items;
  });

  await app.register(fastifyStatic, {
    root: path.resolve("dist"),
    setHeaders: (reply) => reply.header("Content-Security-Policy", POLICY),
  });
  // The front end renders the views, so every path outside the API that doesn't name a file gets
  // the same page.
  app.setNotFoundHandler((request, reply) => {
    const [pathname = ""] = request.url.split("?");
    const isView = ["GET", "HEAD"].includes(request.method) && !/^\/api\/|\.\w+$/.test(pathname);
    return isView ? reply.sendFile("index.html") : reply.code(404).send({ error: "not_found" });
  });
  return { app, auth };
}
