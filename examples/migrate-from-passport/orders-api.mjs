// An API that accepts access tokens. It runs in the application's process to keep the example small,
// and asks the provider whose token it got.
import { once } from "node:events";
import { createServer } from "node:http";

const server = createServer(async (request, response) => {
  const discovery = await fetch(`${process.env.IDP_ISSUER}/.well-known/openid-configuration`);
  const { userinfo_endpoint } = await discovery.json();
  const { authorization = "" } = request.headers;
  const userinfo = await fetch(userinfo_endpoint, { headers: { authorization } });
  response.writeHead(userinfo.status, { "Content-Type": "application/json" });
  const { name } = userinfo.ok ? await userinfo.json() : {};
  response.end(JSON.stringify([`A teapot for ${name}`]));
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
server.unref();

const ordersUrl = `http://127.0.0.1:${server.address().port}/`;

export async function ordersOf(token) {
  const response = await fetch(ordersUrl, { headers: { Authorization: `Bearer ${token}` } });
  if (!response.ok) throw new Error(`The orders API responded with ${response.status}.`);
  return response.json();
}
