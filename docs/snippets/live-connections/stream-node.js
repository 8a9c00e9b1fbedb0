import { idpAuth } from "idpauth/node";
import { sendNotices } from "./notices.js";

const auth = idpAuth();

// #region stream
const stream = auth.idpRequired(async (request, response) => {
  sendNotices(await auth.eventStream(request, response));
});
// #endregion

export const app = auth.listener((request, response) => {
  if (request.url === "/api/stream") return stream(request, response);
  response.writeHead(404).end();
});
