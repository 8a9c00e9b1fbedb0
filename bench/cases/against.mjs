// The proxy of this build against that of another one, in the same rounds: `--against=FOLDER`, where
// the folder has the other build's package.json and dist/.
import { startChild } from "../children.mjs";
import { numberRow, ratioRow } from "../report.mjs";
import { inWords, median, ratio, throughput } from "../rounds.mjs";
import { clientOf } from "../sign-in.mjs";

const PATH = "/api/orders/small";

const FRAMEWORKS = {
  "node:http": "node-idpauth",
  Express: "express-idpauth",
  Fastify: "fastify-idpauth",
  Koa: "koa-idpauth",
  Hono: "hono-idpauth",
};

/** Both builds' proxies on one framework, each in its process. */
async function startBoth({ settings, provider }, start, upstream, kind) {
  const options = { kind, upstream: await upstream.call("port"), provider: clientOf(provider) };
  const pair = {};
  for (const [build, folder] of [
    ["this", undefined],
    ["other", settings.against],
  ]) {
    const server = await start("proxy-server.mjs", { ...options, folder });
    const cookies = await server.call("signIn", { count: 1, sub: "ada" });
    pair[build] = { name: build, server, port: await server.call("port"), path: PATH, cookies };
  }
  return pair;
}

/** Requests per second, and milliseconds until the first byte, as ratios of the two builds. */
async function compare({ load, settings }, client, framework, pair) {
  const targets = Object.values(pair);
  // A process is several times slower before its code is compiled.
  const warm = { ...settings, rounds: 0, milliseconds: 4 * settings.milliseconds };
  await throughput(load, targets, warm);
  const measured = await throughput(load, targets, settings);
  const requested = targets.map(({ port, path, cookies }) => ({ port, path, cookie: cookies[0] }));
  const times = await client.call("firstBytes", { targets: requested, count: settings.firstBytes });
  const [ours, others] = times;
  const differences = ours.map((time, round) => time - others[round]);
  return [
    ratioRow(
      `${framework}: requests per second through the proxy, of the other build`,
      ratio(measured.values.this, measured.values.other),
      { atLeast: 0.95 },
      inWords(measured, "this", "other"),
    ),
    ratioRow(
      `${framework}: processor time of a request, of the other build`,
      ratio(measured.cpu.this, measured.cpu.other),
      { atMost: 1.05 },
    ),
    numberRow(
      `${framework}: first byte after the other build's, median of the differences, ms`,
      median(differences),
      { atMost: 0.05 },
      `median ${median(ours).toFixed(2)} ms against ${median(others).toFixed(2)} ms`,
    ),
  ];
}

export async function against(context) {
  if (context.settings.against === undefined)
    throw new Error("--against=FOLDER names the build to compare with");
  const children = [];
  const start = async (script, options) => {
    const child = await startChild(script, options);
    children.push(child);
    return child;
  };
  try {
    const upstream = await start("upstream.mjs");
    const client = await start("proxy-client.mjs");
    const rows = [];
    for (const [framework, kind] of Object.entries(FRAMEWORKS)) {
      const pair = await startBoth(context, start, upstream, kind);
      rows.push(...(await compare(context, client, framework, pair)));
      for (const { server } of Object.values(pair)) {
        server.stop();
        children.splice(children.indexOf(server), 1);
      }
    }
    return { rows };
  } finally {
    for (const child of children) child.stop();
  }
}
