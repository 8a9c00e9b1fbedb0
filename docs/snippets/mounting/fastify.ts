// #region mount
import fastify from "fastify";
import { idpAuth } from "idpauth/fastify";

const app = fastify();
const auth = idpAuth();
await app.register(auth.plugin);
// #endregion

export { app };
