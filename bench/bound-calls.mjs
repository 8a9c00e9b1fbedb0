// Calls of two signed-in users to an API that answers at once: one has a bearer token, the other a
// token that is bound to the session's key.
import { IncomingMessage } from "node:http";
import { idpAuth } from "idpauth/node";
import { signIn, startTestProvider } from "idpauth/testing";
import { serveCalls } from "./children.mjs";

const requests = {};
for (const [kind, dpop] of [
  ["bearer", "ignored"],
  ["bound", "required"],
]) {
  const provider = await startTestProvider({
    dpop,
    idTokenSeconds: 86_400,
    accessTokenSeconds: 86_400,
  });
  const auth = idpAuth({
    env: { ...provider.env, IDP_DPOP: String(dpop === "required") },
    log: false,
    apis: { orders: { url: "https://orders.internal/" } },
  });
  const user = await signIn(auth.listener((_request, response) => response.end()));
  const { cookie } = user;
  await user.close();
  requests[kind] = () => {
    const request = new IncomingMessage({ remoteAddress: "127.0.0.1" });
    request.method = "GET";
    request.url = "/";
    request.rawHeaders = ["Host", "127.0.0.1", "Cookie", cookie];
    request.headers = { host: "127.0.0.1", cookie };
    return auth.fetchApi(request, "orders", "items");
  };
}

let scheme;
globalThis.fetch = async (_url, { headers }) => {
  scheme = headers.get("authorization").split(" ")[0];
  return new Response("{}");
};
for (const [kind, expected] of [
  ["bearer", "Bearer"],
  ["bound", "DPoP"],
]) {
  await requests[kind]();
  if (scheme !== expected) throw new Error(`${kind}: the API got a token of the type ${scheme}`);
}

serveCalls({
  /** Nanoseconds of processor time for each call, over a batch of calls one after the other. */
  async batch({ kind, calls }) {
    const before = process.cpuUsage();
    for (let index = 0; index < calls; index += 1) await requests[kind]();
    const { user, system } = process.cpuUsage(before);
    return ((user + system) * 1000) / calls;
  },
});
