import { Readable } from "node:stream";
import Fastify from "fastify";
import { idpAuth } from "idpauth/fastify";
import { events, HEADERS } from "./event-stream.js";

const app = Fastify();
const auth = idpAuth();
await app.register(auth.plugin);

app.get("/api/stream", { preHandler: auth.idpRequired }, (request, reply) =>
  reply.headers(HEADERS).send(Readable.from(events(auth.whenEnded(request)))),
);
