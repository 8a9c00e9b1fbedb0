import fastify from "fastify";

// #region own
import { idpAuth } from "idpauth/fastify";

const auth = idpAuth();
export const required = auth.idpRequiredWith({
  unauthenticated: (request, reply, blocked) => {
    reply.code(401).send({ signInAt: blocked.loginUrl });
  },
});
// #endregion

export const app = fastify();
await app.register(auth.plugin);
app.get("/reports", { preHandler: required }, async () => "passed");
