import { idpAuth } from "idpauth/fastify";

const auth = idpAuth();

// #region log
import fastify from "fastify";

const app = fastify({
  logger: {
    serializers: {
      req: ({ method, url }) => ({ method, path: url.split("?")[0] }),
      res: ({ statusCode, request }) => ({
        statusCode,
        user: (request && auth.seenSession(request)?.user.id) ?? null,
      }),
    },
  },
});
app.register(auth.plugin);

// Fastify's own handler would log the address with its query.
app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: "Not Found" }));
// #endregion

app.get("/reports", { preHandler: auth.idpRequired }, () => "passed");
app.get("/broken", { preHandler: auth.idpRequired }, () => {
  throw new Error("This route is broken.");
});
export { app };
