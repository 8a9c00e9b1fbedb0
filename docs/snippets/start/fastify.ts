import fastify from "fastify";
import { idpAuth } from "idpauth/fastify";

const app = fastify();
const auth = idpAuth(); // settings come from the environment
await app.register(auth.plugin); // startup checks, then /idpauth/*

app.get("/", async (request, reply) => {
  reply.type("text/html; charset=utf-8");
  return '<a href="/reports">Reports</a>';
});

app.get("/reports", { preHandler: auth.idpRequired }, async (request) => {
  const { user } = await auth.requireSession(request);
  return { hello: user.name, email: user.email };
});

const port = Number(process.env["PORT"] ?? 3000);
await app.listen({ port });
console.log(`http://localhost:${port}/reports`);
