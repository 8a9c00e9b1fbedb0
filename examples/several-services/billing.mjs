// @ts-check
// A service on Fastify.
import fastify from "fastify";
import { tokenCheck } from "./check-token.mjs";

const check = tokenCheck("billing");
const app = fastify({ return503OnClosing: false }); // serves the requests that still arrive
app.decorateRequest("user", "");
app.addHook("onRequest", async (request, reply) => {
  const { status, error, sub = "" } = await check(request.headers.authorization);
  if (status !== 200)
    return reply.code(status).header("WWW-Authenticate", `Bearer error="${error}"`).send({ error });
  request.setDecorator("user", sub);
  return undefined;
});
app.get("/", async (request) => [{ invoice: 1, euros: 12, for: request.getDecorator("user") }]);

await app.listen({ port: Number(process.env["PORT"] ?? 4002), host: "127.0.0.1" });
process.once("SIGTERM", () => {
  void app.close(); // requests that have begun get their response
  setTimeout(() => app.server.closeAllConnections(), 3000).unref(); // if a request never completes
});
