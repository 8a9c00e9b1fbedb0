import http, { createServer, Agent } from "node:http";
import { serveCalls, childOptions } from "./children.mjs";
const { kind, upstream } = childOptions();
const agent = new Agent({ keepAlive: true });
const server = createServer((req, res) => {
  if (kind === "bare-none") { res.writeHead(200, {"content-type":"application/json","content-length":"22"}); return res.end('{"authenticated":true}'); }
  const out = http.request({ port: upstream, host: "127.0.0.1", agent, method: req.method, path: "/v2/" + req.url.slice(12), headers: { accept: req.headers.accept, "user-agent": req.headers["user-agent"], authorization: "Bearer x" } });
  out.on("error", () => res.destroy());
  out.on("response", (r) => { res.writeHead(r.statusCode, r.headers); r.pipe(res); });
  out.end();
}).listen(0, "127.0.0.1");
await new Promise((r) => server.once("listening", r));
serveCalls({ port: () => server.address().port, cpu: () => { const { user, system } = process.cpuUsage(); return user + system; } });
