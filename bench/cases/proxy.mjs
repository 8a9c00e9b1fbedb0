// idpauth's proxy, which checks a session, against two libraries that check none; and what its long
// requests cost.
import { needPackages } from "../../scripts/framework-install.mjs";
import { startChild } from "../children.mjs";
import { numberRow, ratioRow } from "../report.mjs";
import { inWords, median, ratio, throughput } from "../rounds.mjs";
import { clientOf } from "../sign-in.mjs";

const PATH = "/api/orders/";
const MB = 1024 * 1024;

/** Each of idpauth's with the library on the same server. */
const PAIRS = [
  ["node:http", "node-idpauth", "node-http-proxy-3", "http-proxy-3"],
  ["Fastify", "fastify-idpauth", "fastify-http-proxy", "@fastify/http-proxy"],
];

/**
 * A proxy without session and rules, which shows what Node.js itself costs, with the one that it is
 * compared to.
 */
const PLAIN = ["node-plain", "fastify-http-proxy"];

const mb = (bytes) => `${(bytes / MB).toFixed(1)} MB`;
const number = (value) => value.toLocaleString("en-US");

async function compared(context, upstream, started) {
  const { load, settings } = context;
  const direct = {
    name: "direct",
    server: upstream,
    port: await upstream.call("port"),
    path: "/v2/small",
  };
  const targets = [direct];
  for (const [name, { server, port, cookies }] of Object.entries(started))
    targets.push({ name, server, port, path: `${PATH}small`, cookies });
  // A busy machine takes few requests in a round, and a process is several times slower before its
  // code is compiled.
  await throughput(load, targets, {
    ...settings,
    rounds: 0,
    milliseconds: 4 * settings.milliseconds,
  });
  const measured = await throughput(load, targets, settings);
  const rows = PAIRS.map(([framework, ours, theirs, library]) =>
    ratioRow(
      `${framework}: requests per second through idpauth's proxy / ${library}`,
      ratio(measured.values[ours], measured.values[theirs]),
      { atLeast: 0.9 },
      inWords(measured, ours, theirs),
    ),
  );
  const [plain, other] = PLAIN;
  const row =
    "node:http: requests per second through a proxy without session and rules, / @fastify/http-proxy";
  rows.push(
    ratioRow(
      row,
      ratio(measured.values[plain], measured.values[other]),
      undefined,
      inWords(measured, plain, other),
    ),
  );
  return { rows, measured };
}

async function firstByte({ settings }, client, upstream, started) {
  const targets = [{ name: "direct", port: await upstream.call("port"), path: "/v2/small" }];
  for (const [name, { port, cookies }] of Object.entries(started))
    targets.push({ name, port, path: `${PATH}small`, cookie: cookies?.[0] });
  const times = await client.call("firstBytes", { targets, count: settings.firstBytes });
  const rows = targets.slice(1).map(({ name }, index) => {
    const differences = times[index + 1].map((time, round) => time - times[0][round]);
    const note = `median ${median(times[index + 1]).toFixed(2)} ms, direct ${median(times[0]).toFixed(2)} ms, ${number(settings.firstBytes)} requests`;
    const goal = name.endsWith("idpauth") ? { atMost: 0.5 } : undefined;
    return numberRow(
      `${name}: first byte after a direct request's, median of the differences`,
      median(differences),
      goal,
      note,
      { unit: "ms" },
    );
  });
  return { rows };
}

async function large({ settings }, client, { server, port, cookies }) {
  const size = settings.proxiedMegabytes * MB;
  const [cookie] = cookies;
  const transfers = {
    download: (bytes) => ({ path: `${PATH}download/${bytes}` }),
    upload: (bytes) => ({ path: `${PATH}upload`, method: "POST", size: bytes }),
  };
  const rows = [];
  for (const [name, head] of Object.entries(transfers)) {
    /** Transfers that many bytes. Returns the largest size of the process meanwhile. */
    const peakOf = async (bytes) => {
      await server.call("memory");
      await server.call("watchSize");
      const {
        status,
        bytes: got,
        last,
      } = await client.call("transfer", { port, cookie, ...head(bytes) });
      if (status !== 200 || (name === "upload" ? Number(last) : got) !== bytes)
        throw new Error(`${name}: ${status}, ${got} bytes, ${last}`);
      return server.call("peak");
    };
    await peakOf(size / 8);
    const before = await server.call("memory");
    const eighth = await peakOf(size / 8);
    const began = performance.now();
    const whole = await peakOf(size);
    const seconds = (performance.now() - began) / 1000;
    const after = await server.call("memory");
    const note = `process ${mb(before.rss)} before, at most ${mb(eighth)} with an eighth of it and ${mb(whole)} with all; in use ${mb(before.used)} before, ${mb(after.used)} after; ${seconds.toFixed(1)} s`;
    const row = `${name} of ${number(settings.proxiedMegabytes)} MB: more memory than for an eighth of it`;
    rows.push(
      numberRow(row, Math.max(0, whole - eighth) / MB, { atMost: 8 }, note, { unit: "MB" }),
    );
  }
  return { rows };
}

async function eventStreams({ settings, provider }, client, { server, port }) {
  const count = settings.eventStreams;
  const sub = "a user with many streams";
  const cookies = await server.call("signIn", { count: count / 10, sub });
  const before = await server.call("memory");
  await client.call("openStreams", { port, path: `${PATH}events`, cookies, count });
  const open = await server.call("memory");
  const milliseconds = settings.loopMilliseconds;
  const busy = await server.call("utilization", { milliseconds });
  const ended = client.call("streamsEnded", { milliseconds: 30_000 });
  const began = performance.timeOrigin + performance.now();
  const body = new URLSearchParams({ logout_token: provider.logoutToken({ sub }) });
  const logout = await fetch(`http://127.0.0.1:${port}/idpauth/backchannel-logout`, {
    method: "POST",
    body,
  });
  if (!logout.ok)
    throw new Error(`the logout was answered ${logout.status}: ${await logout.text()}`);
  const { ended: all, last } = await ended;
  const each = (name) => (open[name] - before[name]) / count;
  const about = `${number(count)} idle event streams of ${number(cookies.length)} sessions`;
  return {
    rows: [
      numberRow(
        `${about}: memory for each`,
        each("used") / 1024,
        undefined,
        `the process grew by ${(each("rss") / 1024).toFixed(1)} KB for each`,
        { unit: "KB" },
      ),
      numberRow(
        `${about}: share of the time in which the event loop works`,
        busy * 100,
        { atMost: 1 },
        `${milliseconds / 1000} s`,
        { unit: "%" },
      ),
      numberRow(
        `${about}: how many end when one logout ends the sessions`,
        all,
        { atLeast: count },
        `the last one after ${(last - began).toFixed(0)} ms`,
      ),
    ],
  };
}

export async function proxy(context) {
  const packages = await needPackages("bench/peers/proxies");
  const children = [];
  const start = async (script, options) => {
    const child = await startChild(script, options);
    children.push(child);
    return child;
  };
  try {
    const upstream = await start("upstream.mjs");
    const client = await start("proxy-client.mjs");
    const started = {};
    for (const name of [...PAIRS.flatMap(([, ours, theirs]) => [ours, theirs]), PLAIN[0]]) {
      const server = await start("proxy-server.mjs", {
        kind: name,
        packages,
        upstream: await upstream.call("port"),
        provider: clientOf(context.provider),
      });
      const cookies = name.endsWith("idpauth")
        ? await server.call("signIn", { count: 1, sub: "ada" })
        : undefined;
      started[name] = { server, port: await server.call("port"), cookies };
    }
    const parts = [
      await compared(context, upstream, started),
      await firstByte(context, client, upstream, started),
      await large(context, client, started["node-idpauth"]),
      await eventStreams(context, client, started["node-idpauth"]),
    ];
    return { rows: parts.flatMap(({ rows }) => rows), measured: parts[0].measured };
  } finally {
    for (const child of children) child.stop();
  }
}
