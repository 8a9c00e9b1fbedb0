// @ts-check
// A service on node:http.
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { tokenCheck } from "./check-token.mjs";

const check = tokenCheck("orders");
/** @type {{ text: string, by: string }[]} */
const orders = [{ text: "Punched cards", by: "nobody" }];

const server = createServer(async (request, response) => {
  /** @param {number} status @param {unknown} body @param {Record<string, string>} [headers] */
  const respond = (status, body, headers) =>
    response
      .writeHead(status, { "Content-Type": "application/json", ...headers })
      .end(JSON.stringify(body));
  const { status, error, sub = "" } = await check(request.headers.authorization);
  if (status !== 200)
    return respond(status, { error }, { "WWW-Authenticate": `Bearer error="${error}"` });
  if (request.method !== "POST") return respond(200, orders);
  try {
    const body = /** @type {{ text?: unknown }} */ (await json(request));
    orders.push({ text: String(body.text).slice(0, 100), by: sub });
    return respond(201, orders.at(-1));
  } catch {
    return respond(400, { error: "invalid_json" });
  }
});
server.listen(Number(process.env["PORT"] ?? 4001), "127.0.0.1");
process.once("SIGTERM", () => {
  server.close(); // requests that have begun get their response
  setTimeout(() => server.closeAllConnections(), 3000).unref(); // if a request never completes
});
