// What a request pays: a guarded route against the same route behind a middleware that sets the two
// headers of a guarded response, as processor time of the server. `--against` compares the guarded
// route and the probe with another build's.
import { startChild } from "../children.mjs";
import { ratioRow } from "../report.mjs";
import { median } from "../rounds.mjs";
import { clientOf, signIn } from "../sign-in.mjs";

/** The frameworks, each with its name in the table. */
const HOSTS = {
  express: "Express",
  fastify: "Fastify",
  koa: "Koa",
  hono: "Hono on Node",
  node: "node:http",
  fetch: "fetch-style on Node",
};

/** Requests of a turn: few, so that other work on the machine meets all targets alike. */
const TURN = 500;
/** Requests until the code is compiled. */
const WARM_UP = 10_000;

/** The core of the server, and that of the load generator, if there are two. */
const [SERVER, LOAD] = [0, 1];

/**
 * Microseconds of processor time per request of each target, over connections that stay open. Each
 * round has a turn of every target, in a rotating order.
 *
 * @returns {Promise<Record<string, number[]>>}
 */
async function processorTimes(load, targets, { turns, connections }) {
  for (const { server, ...target } of targets) {
    const { name } = target;
    await load.call("target", target);
    await load.call("connect", { name, connections });
    await load.call("turn", { name, requests: WARM_UP });
  }
  const values = Object.fromEntries(targets.map(({ name }) => [name, []]));
  for (let round = 0; round < turns; round += 1)
    for (let at = 0; at < targets.length; at += 1) {
      const { name, server } = targets[(round + at) % targets.length];
      const before = await server.call("cpu");
      await load.call("turn", { name, requests: TURN });
      values[name].push(((await server.call("cpu")) - before) / TURN);
    }
  return values;
}

/** The median of the ratios of single rounds, and their middle half. */
function pairedRatio(values, others) {
  const ratios = values.map((value, round) => value / others[round]).sort((a, b) => a - b);
  const at = (share) => ratios[Math.floor((ratios.length - 1) * share)];
  return { ratio: median(ratios), min: at(0.25), max: at(0.75) };
}

const inWords = (values, name, other) =>
  `${median(values[name]).toFixed(1)} µs against ${median(values[other]).toFixed(1)} µs of processor time`;

async function startServer(options, { load, provider, settings }) {
  const server = await startChild("request-server.mjs", {
    ...options,
    provider: clientOf(provider),
  });
  if (settings.pinned) {
    await server.call("pin", SERVER);
    await load.call("pin", LOAD);
  }
  const ports = await server.call("ports");
  const cookies = [await signIn(`http://127.0.0.1:${ports.guarded}`, provider)];
  return { server, ports, cookies };
}

/** A target of one server. The probe has no `ok` in its body. */
function targetOf(name, { server, ports, cookies }, kind) {
  const route = { server, port: ports[kind], path: "/report", cookies, part: '"ok":true' };
  const probe = { server, port: ports.guarded, path: "/idpauth/session", cookies };
  return { name, ...(kind === "probe" ? probe : route) };
}

/** Several processes of each server, since two processes of the same code differ by some percent. */
async function repeated(load, start, targetsOf, settings) {
  const values = {};
  for (let process = 0; process < settings.processes; process += 1) {
    const servers = await start();
    try {
      const targets = targetsOf(servers);
      const measured = await processorTimes(load, targets, settings);
      for (const name in measured) (values[name] ??= []).push(...measured[name]);
    } finally {
      for (const { server } of Object.values(servers)) server.stop();
      await load.call("disconnect");
    }
  }
  return values;
}

export async function request(context) {
  const { load, settings } = context;
  const rows = [];
  const measurements = {};
  for (const [host, name] of Object.entries(HOSTS)) {
    console.error(`  ${name}`);
    const values = await repeated(
      load,
      async () => ({ app: await startServer({ host }, context) }),
      ({ app }) =>
        ["open", "headers", "awaiting", "guarded"].map((kind) => targetOf(kind, app, kind)),
      settings,
    );
    measurements[host] = values;
    rows.push(
      ratioRow(
        `${name}: the same route behind a middleware that sets its two headers / a guarded route, by processor time`,
        pairedRatio(values.headers, values.guarded),
        { atLeast: 0.88 },
        inWords(values, "guarded", "headers"),
      ),
      ratioRow(
        `${name}: the same, with a middleware that also waits for a promise`,
        pairedRatio(values.awaiting, values.guarded),
        undefined,
        inWords(values, "guarded", "awaiting"),
      ),
      ratioRow(
        `${name}: the same, without middleware`,
        pairedRatio(values.open, values.guarded),
        undefined,
        inWords(values, "guarded", "open"),
      ),
    );
  }
  return { rows, measurements };
}

/** This build's guarded route and probe against another build's, over the memory store and Redis. */
export async function requestAgainst(context) {
  const { load, settings, startRedis } = context;
  const redis = await startRedis();
  const rows = [];
  const measurements = {};
  const compare = async (name, options, kinds) => {
    console.error(`  ${name}`);
    const values = await repeated(
      load,
      async () => ({
        this: await startServer(options, context),
        other: await startServer({ ...options, folder: settings.against }, context),
      }),
      (servers) =>
        kinds.flatMap((kind) =>
          Object.entries(servers).map(([build, app]) => targetOf(`${kind} ${build}`, app, kind)),
        ),
      settings,
    );
    measurements[name] = values;
    for (const kind of kinds)
      rows.push(
        ratioRow(
          `${name}: ${kind === "probe" ? "the probe" : "a guarded route"}, processor time now / then`,
          pairedRatio(values[`${kind} this`], values[`${kind} other`]),
          { atMost: 1 },
          inWords(values, `${kind} this`, `${kind} other`),
        ),
      );
  };
  try {
    for (const [host, name] of Object.entries(HOSTS))
      await compare(name, { host }, ["guarded", "probe"]);
    await compare("Express with Redis", { host: "express", redis: redis.url }, [
      "guarded",
      "probe",
    ]);
  } finally {
    await redis.stop();
  }
  return { rows, measurements };
}
