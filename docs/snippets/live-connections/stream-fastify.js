import Fastify from "fastify";
import { idpAuth } from "idpauth/fastify";
import { sendNotices } from "./notices.js";

const app = Fastify();
const auth = idpAuth();
await app.register(auth.plugin);

// #region stream
app.get("/api/stream", { preHandler: auth.idpRequired }, async (request, reply) => {
  sendNotices(await auth.eventStream(request, reply));
});
// #endregion
