// What passing a request on costs over each of Node.js's HTTP clients: plain proxies of 20 lines, two
// libraries, and idpauth's proxy with session and token.
import { needPackages } from "../../scripts/framework-install.mjs";
import { startChild } from "../children.mjs";
import { numberRow, ratioRow } from "../report.mjs";
import { median, ratio, throughput } from "../rounds.mjs";
import { clientOf } from "../sign-in.mjs";

const PATH = "/api/orders/small";

const PROXIES = {
  "node-plain": "http.request(), plain",
  "node-undici-dispatch": "undici's dispatch, plain",
  "node-undici-request": "undici's request, plain",
  "node-http-proxy-3": "http-proxy-3",
  "fastify-http-proxy": "@fastify/http-proxy",
  "node-idpauth": "idpauth over undici, with session and token",
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
    return { rows: [...rows, ...comparisons(measured)], measured };
  } finally {
    for (const child of children) child.stop();
  }
}

/** idpauth beside a library, and beside a plain proxy over the same client. */
function comparisons({ cpu, p99 }) {
  const [ours, plain, library] = ["node-idpauth", "node-undici-dispatch", "node-http-proxy-3"];
  const more = cpu[ours].map((each, round) => each - cpu[plain][round]);
  return [
    ratioRow(
      "processor time of a request: http-proxy-3 / idpauth",
      ratio(cpu[library], cpu[ours]),
      {
        atLeast: 1.2,
      },
    ),
    numberRow(
      "processor time of a request that idpauth adds to undici's dispatch",
      median(more),
      { atMost: 25 },
      "the median of the differences",
      { unit: "µs", spread: [Math.min(...more), Math.max(...more)] },
    ),
    ratioRow("p99 of a request: idpauth / undici's dispatch", ratio(p99[ours], p99[plain]), {
      atMost: 1.1,
    }),
    ratioRow("p99 of a request: idpauth / http-proxy-3", ratio(p99[ours], p99[library]), undefined),
  ];
}
