// @ts-check
import { EventEmitter } from "node:events";
import websocket from "@fastify/websocket";
import fastify from "fastify";
import { createRemoteJWKSet, errors, jwtVerify } from "jose";

/** How long ago a user may have authenticated to pay, in seconds. */
const MAX_AGE = 300;

/**
 * The API, which knows no sessions: each request brings an access token (RFC 9068).
 * @param {{ issuer: string, audience?: string }} options
 */
export async function createApi({ issuer, audience = issuer }) {
  const orders = [{ id: 1, text: "Punched cards", isPaid: false }];
  const changes = new EventEmitter().setMaxListeners(0);
  const keys = createRemoteJWKSet(await keysOf(issuer));

  const api = fastify();
  await api.register(websocket, { options: { maxPayload: 1_000 } });

  api.decorateRequest("token");
  api.addHook("onRequest", async (request, reply) => {
    const [, token = ""] = /^Bearer (.+)$/i.exec(request.headers.authorization ?? "") ?? [];
    try {
      const { payload } = await jwtVerify(token, keys, { issuer, audience, typ: "at+jwt" });
      request.setDecorator("token", payload);
      return undefined;
    } catch (error) {
      // 401 would make the caller get a new token, which doesn't help if the keys are missing.
      if (!(error instanceof errors.JOSEError) || error instanceof errors.JWKSTimeout) throw error;
      return refuse(reply, "invalid_token");
    }
  });

  api.get("/stream", (_request, reply) => {
    reply.hijack();
    const send = () => reply.raw.write(`data: ${JSON.stringify(orders)}\n\n`);
    reply.raw.writeHead(200, { "Content-Type": "text/event-stream" });
    send();
    changes.on("change", send);
    reply.raw.on("close", () => changes.off("change", send));
  });

  const text = { type: "string", minLength: 1, maxLength: 100 };
  const orderBody = { type: "object", required: ["text"], properties: { text } };
  api.post("/orders", { schema: { body: orderBody } }, async (request, reply) => {
    const { text } = /** @type {{ text: string }} */ (request.body);
    orders.push({ id: orders.length + 1, text, isPaid: false });
    changes.emit("change");
    return reply.code(204).send();
  });

  const id = { type: "integer" };
  const paymentBody = { type: "object", required: ["order"], properties: { order: id } };
  api.post("/payments", { schema: { body: paymentBody } }, async (request, reply) => {
    /** @type {{ auth_time?: number }} */
    const { auth_time = 0 } = request.getDecorator("token");
    // The user has to authenticate again (RFC 9470).
    if (Date.now() / 1000 - auth_time > MAX_AGE)
      return refuse(reply, "insufficient_user_authentication", `, max_age="${MAX_AGE}"`);
    const body = /** @type {{ order: number }} */ (request.body);
    const order = orders.find(({ id }) => id === body.order);
    if (order === undefined) return reply.code(404).send();
    order.isPaid = true;
    changes.emit("change");
    return reply.code(204).send();
  });

  api.get("/chat", { websocket: true }, (socket, request) => {
    /** @type {{ sub: string }} */
    const { sub } = request.getDecorator("token");
    socket.on("message", (/** @type {Buffer} */ line) => {
      for (const each of api.websocketServer.clients) each.send(`${sub}: ${line}`);
    });
  });

  return api;
}

/** @param {string} issuer */
async function keysOf(issuer) {
  const response = await fetch(`${issuer}/.well-known/openid-configuration`);
  const { jwks_uri } = await response.json();
  return new URL(jwks_uri);
}

/** @param {import("fastify").FastifyReply} reply @param {string} error @param {string} [more] */
function refuse(reply, error, more = "") {
  reply.code(401).header("WWW-Authenticate", `Bearer error="${error}"${more}`);
  return reply.send({ error });
}
