import { idpAuth } from "idpauth/fetch";
import { eventResponse } from "./event-stream.js";

const auth = idpAuth();
auth.start();

const stream = auth.idpRequired((request) => eventResponse(auth.whenEnded(request)));

/** @param {Request} request */
export async function serve(request) {
  const own = await auth.fetch(request);
  if (own !== undefined) return own;
  return new URL(request.url).pathname === "/api/stream"
    ? stream(request)
    : new Response(null, { status: 404 });
}
