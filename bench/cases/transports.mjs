// What passing a request on costs over each of Node.js's HTTP clients: plain proxies of 20 lines, two
// libraries, and idpauth's proxy with session and token.
import { needPackages } from "../../scripts/framework-install.mjs";
import { startChild } from "../children.mjs";
import { numberRow } from "../report.mjs";
import { median, throughput } from "../rounds.mjs";
import { clientOf } from "../sign-in.mjs";

const PATH = "/api/orders/small";

const PROXIES = {
  "node-plain": "http.request(), plain",
  "node-undici-dispatch": "undici's dispatch, plain",
  "node-undici-request": "undici's request, plain",
  "node-http-proxy-3": "http-proxy-3",
  "fastify-http-proxy": "@fastify/http-proxy",
  "node-idpauth": "idpauth on node:http, with session and token",
};

export async function transports({ load, provider, settings }) {
  const packages = await needPackages("bench/peers/proxies");
  const children = [];
  const start = async (script, options) => {
    const child = await startChild(script, options);
    children.push(child);
    return child;
  };
  try {
    const upstream = await start("upstream.mjs");
    const port = await upstream.call("port");
    const targets = [{ name: "direct", server: upstream, port, path: "/v2/small" }];
    for (const name of Object.keys(PROXIES)) {
      const options = { kind: name, packages, upstream: port, provider: clientOf(provider) };
      const server = await start("proxy-server.mjs", options);
      const cookies =
        name === "node-idpauth" ? await server.call("signIn", { count: 1, sub: "ada" }) : undefined;
      targets.push({ name, server, port: await server.call("port"), path: PATH, cookies });
    }
    // A process is several times slower before its code is compiled.
    const milliseconds = 4 * settings.milliseconds;
    await throughput(load, targets, { ...settings, rounds: 0, milliseconds });
    const measured = await throughput(load, targets, settings);
    const rows = targets.map(({ name }) => {
      const spread = [Math.min(...measured.cpu[name]), Math.max(...measured.cpu[name])];
      const note = `${Math.round(median(measured.values[name])).toLocaleString("en-US")} requests a second, p99 ${median(measured.p99[name]).toFixed(1)} ms`;
      const title = PROXIES[name] ?? "no proxy, the API itself";
      const row = `processor time of a request: ${title}`;
      return numberRow(row, median(measured.cpu[name]), undefined, note, { unit: "µs", spread });
    });
    return { rows, measured };
  } finally {
    for (const child of children) child.stop();
  }
}
