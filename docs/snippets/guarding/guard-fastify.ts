import fastify from "fastify";
import { idpAuth } from "idpauth/fastify";

const app = fastify();
const auth = idpAuth();
await app.register(auth.plugin);

// #region guard
app.get("/reports", { preHandler: auth.idpRequired }, async (request) => {
  const { user } = await auth.requireSession(request);
  return { hello: user.name };
});
// #endregion

export { app };
