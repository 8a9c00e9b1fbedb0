// #region server
import path from "node:path";
import fastifyStatic from "@fastify/static";
import fastify from "fastify";
import { idpAuth } from "idpauth/fastify";

// #endregion
const POLICY =
  "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'";

// #region server
export const app = fastify();
const auth = idpAuth();
await app.register(auth.plugin);
app.addHook("onRequest", auth.csrf);

app.get("/api/items", { preHandler: auth.idpRequired }, async () => [{ id: 1, text: "Cards" }]);

await app.register(fastifyStatic, {
  root: path.resolve("dist"),
  setHeaders: (reply) => reply.header("Content-Security-Policy", POLICY),
});
// Every path outside the API that doesn't name a file gets the same page.
app.setNotFoundHandler((request, reply) => {
  const [pathname = ""] = request.url.split("?");
  const isView = ["GET", "HEAD"].includes(request.method) && !/^\/api\/|\.\w+$/.test(pathname);
  return isView ? reply.sendFile("index.html") : reply.code(404).send({ error: "not_found" });
});
// #endregion
