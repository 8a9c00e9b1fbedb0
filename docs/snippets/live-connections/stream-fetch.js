import { idpAuth } from "idpauth/fetch";
import { sendNotices } from "./notices.js";

const auth = idpAuth();
auth.start();

// #region stream
const notices = auth.idpRequired(async (request) => {
  const stream = await auth.eventStream(request);
  sendNotices(stream);
  return stream.response;
});
// #endregion

/** @param {Request} request */
export async function serve(request) {
  const own = await auth.fetch(request);
  if (own !== undefined) return own;
  return new URL(request.url).pathname === "/api/stream"
    ? notices(request)
    : new Response(null, { status: 404 });
}
