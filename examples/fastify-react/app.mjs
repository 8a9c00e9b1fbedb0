// @ts-check
import path from "node:path";
import fastifyStatic from "@fastify/static";
import fastify from "fastify";
import { idpAuth } from "idpauth/fastify";

const DIST = path.join(import.meta.dirname, "dist");
const POLICY =
  "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'";

/**
 * The server of the front end, which passes requests on to the API.
 * @param {string} api the API's address, with a slash at its end
 * @param {import("idpauth").IdpAuthOptions} [options] tests pass their own
 */
export async function createApp(api, options) {
  const app = fastify();
  const auth = idpAuth({
    sessionsPage: true, // /idpauth/sessions, where users see and end their sessions
    apis: { orders: { url: api, path: "/api/" } },
    ...options,
  });
  await app.register(auth.plugin); // startup checks, then /idpauth/*
  app.addHook("onRequest", auth.proxyApi("orders"));
  app.server.on("upgrade", (...upgrade) => auth.proxyUpgrade(...upgrade) || upgrade[1].destroy());

  await app.register(fastifyStatic, {
    root: DIST,
    setHeaders: (reply) => reply.header("Content-Security-Policy", POLICY),
  });
  return { app, auth };
}
