import fastify from "fastify";
import { idpAuth } from "idpauth/fastify";

const app = fastify();
const auth = idpAuth(); // settings come from the environment
await app.register(auth.plugin);

app.get("/reports", { preHandler: auth.idpRequired }, async (request) => {
  const { user } = await auth.requireSession(request);
  return { hello: user.name };
});

await app.listen({ port: 3000 });
