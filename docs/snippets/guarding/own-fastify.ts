import fastify from "fastify";
import { idpAuth } from "idpauth/fastify";

const auth = idpAuth();

// #region own
export const required = auth.idpRequiredWith({
  unauthenticated: (request, reply, blocked) => {
    reply.code(401).send({ authenticated: false, login_url: blocked.loginUrl });
  },
});
// #endregion

export const app = fastify();
await app.register(auth.plugin);
app.get("/reports", { preHandler: required }, async () => "passed");
