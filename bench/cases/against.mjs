// This build against another one, in the same rounds: `--against=PACKAGE`, a tarball of npm, or a
// folder with the other build's package.json and dist/.
import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, rmSync, statSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startChild } from "../children.mjs";
import { numberRow, ratioRow } from "../report.mjs";
import { interleave, inWords, median, ratio, throughput } from "../rounds.mjs";
import { clientOf, signIn } from "../sign-in.mjs";
import { requestAgainst } from "./request.mjs";

const run = promisify(execFile);

const PATH = "/api/orders/small";

const FRAMEWORKS = {
  "node:http": "node-idpauth",
  Express: "express-idpauth",
  Fastify: "fastify-idpauth",
  Koa: "koa-idpauth",
  Hono: "hono-idpauth",
};

/** Both builds' proxies on one framework, each in its process. */
async function startBoth({ settings, provider }, startOne, upstream, kind) {
  const options = { kind, upstream: await upstream.call("port"), provider: clientOf(provider) };
  const pair = {};
  for (const [build, folder] of Object.entries(builds(settings))) {
    const server = await startOne("proxy-server.mjs", { ...options, folder });
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
      `${framework}: requests per second through the proxy / of the other build`,
      ratio(measured.values.this, measured.values.other),
      { atLeast: 0.95 },
      inWords(measured, "this", "other"),
    ),
    ratioRow(
      `${framework}: processor time of a request / of the other build`,
      ratio(measured.cpu.this, measured.cpu.other),
      { atMost: 1.05 },
    ),
    numberRow(
      `${framework}: first byte after the other build's, median of the differences`,
      median(differences),
      { atMost: 0.05 },
      `median ${median(ours).toFixed(2)} ms against ${median(others).toFixed(2)} ms`,
      { unit: "ms" },
    ),
  ];
}

/** Where a tarball is unpacked: the packages that it needs are found in the project's. */
const UNPACKED = fileURLToPath(new URL("../results/against/", import.meta.url));

/**
 * @param {string} name a tarball of npm, or a folder
 * @returns {string} the folder that has package.json and dist/
 */
export function otherBuild(name) {
  const place = path.resolve(name);
  if (statSync(place).isDirectory()) return place;
  rmSync(UNPACKED, { recursive: true, force: true });
  mkdirSync(UNPACKED, { recursive: true });
  execFileSync("tar", ["-xzf", place, "-C", UNPACKED]);
  return path.join(UNPACKED, "package");
}

/** Both builds: the name of each, and its folder. This one is found by its name. */
const builds = ({ against }) => ({ this: undefined, other: against });

/** An Express application's start, in a new process each time. */
async function start({ settings }) {
  const script = fileURLToPath(new URL("../start-time.mjs", import.meta.url));
  const measureOf = (folder) => async () => {
    const args = [script, JSON.stringify({ folder })];
    const { stdout } = await run(process.execPath, args, { cwd: path.dirname(script) });
    return JSON.parse(stdout);
  };
  const { this: ours, other } = builds(settings);
  const values = await interleave(
    { ours: measureOf(ours), others: measureOf(other) },
    settings.rounds,
  );
  const only = (field) => [values.ours, values.others].map((each) => each.map((one) => one[field]));
  const row = (what, [one, another]) =>
    ratioRow(
      `Start of an Express application / of the other build: ${what}`,
      ratio(one, another),
      { atMost: 1.05 },
      `${median(one).toFixed(1)} ms against ${median(another).toFixed(1)} ms`,
    );
  return {
    values,
    rows: [row("time", only("elapsed")), row("processor time", only("processor"))],
  };
}

/** Requests per second of one path of an Express application over the memory store. */
async function onExpress({ load, provider, settings }, what, address) {
  const children = [];
  try {
    const targets = [];
    for (const [name, folder] of Object.entries(builds(settings))) {
      const server = await startChild("server.mjs", {
        kind: "idpauth",
        provider: clientOf(provider),
        folder,
      });
      children.push(server);
      const port = await server.call("port");
      const cookies = [await signIn(`http://127.0.0.1:${port}`, provider)];
      targets.push({ name, server, port, path: address, cookies });
    }
    // A process is several times slower before its code is compiled.
    await throughput(load, targets, { ...settings, rounds: 0, milliseconds: 3_000 });
    const { values, cpu, ...rest } = await throughput(load, targets, settings);
    return {
      values,
      cpu,
      rows: [
        ratioRow(
          `${what}: requests per second / of the other build`,
          ratio(values.this, values.other),
          { atLeast: 0.97 },
          inWords({ values, cpu, ...rest }, "this", "other"),
        ),
        ratioRow(
          `${what}: requests per second of processor time / of the other build`,
          ratio(cpu.other, cpu.this),
          { atLeast: 0.97 },
        ),
      ],
    };
  } finally {
    for (const child of children) child.stop();
  }
}

async function proxy(context) {
  const children = [];
  const startOne = async (script, options) => {
    const child = await startChild(script, options);
    children.push(child);
    return child;
  };
  try {
    const upstream = await startOne("upstream.mjs");
    const client = await startOne("proxy-client.mjs");
    const rows = [];
    for (const [framework, kind] of Object.entries(FRAMEWORKS)) {
      const pair = await startBoth(context, startOne, upstream, kind);
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

/** The cases of `--against`. */
export const AGAINST = {
  start,
  guard: (context) => onExpress(context, "A route behind idpRequired", "/guarded"),
  probe: (context) => onExpress(context, "GET /idpauth/session, signed in", "/idpauth/session"),
  request: requestAgainst,
  proxy,
};
