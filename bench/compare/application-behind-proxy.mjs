// The application behind a proxy that signs users in: it gets the user and the access token in
// headers.
import { createServer } from "node:http";

const { PORT, API_URL, TOKEN_HEADER, USER_HEADER } = process.env;

/** Also without the header, for the proxy without sign-in. */
const PAGES = {
  "/page": (request) => ({ user: request.headers[USER_HEADER] ?? "ada" }),
  "/session": () => ({ user: "ada", email: "ada@example.com" }),
};

async function orders(request) {
  const token = request.headers[TOKEN_HEADER];
  const api = await fetch(API_URL, { headers: { authorization: `Bearer ${token}` } });
  return api.ok
    ? { status: 200, body: await api.json() }
    : { status: 502, body: { error: "the API refused the access token" } };
}

createServer(async (request, response) => {
  const path = request.url.split("?")[0];
  const page = PAGES[path];
  const { status, body } =
    path === "/orders"
      ? await orders(request)
      : page === undefined
        ? { status: 404, body: { error: "not found" } }
        : { status: 200, body: page(request) };
  const text = JSON.stringify(body);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
  });
  response.end(text);
}).listen(Number(PORT), "127.0.0.1");
