// The probe over each store outside the process, against a bare Express route of the same process
// that does one plain read by key on the same store: with few, many and very many records; its
// latencies; with an idle timeout, which writes; and the bytes of a session.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { startChild } from "../children.mjs";
import { markdown, numberRow, ratioRow } from "../report.mjs";
import { inWords, median, ratio, throughput } from "../rounds.mjs";
import { clientOf, signIn } from "../sign-in.mjs";

/**
 * Users in a round: more than the requests of a second, so that each request writes a stamp if
 * there is an idle timeout.
 */
const USERS = 20_000;

export const STORES = ["sqlite", "redis", "ioredis", "postgres"];

/** As the tables name them. */
export const STORE_NAMES = {
  memory: "Memory",
  sqlite: "SQLite",
  redis: "Redis, node-redis",
  ioredis: "Redis, ioredis",
  postgres: "PostgreSQL",
};

/** Starts the server that a store needs. */
export async function place(kind, { startRedis, startPostgres }) {
  if (kind === "postgres") return startPostgres();
  if (kind !== "sqlite") return startRedis();
  const folder = mkdtempSync(path.join(tmpdir(), "idpauth-bench-"));
  return {
    url: path.join(folder, "sessions.db"),
    stop: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

export async function stores(context) {
  const rows = [];
  const raw = {};
  for (const kind of STORES) {
    console.error(`  ${kind}`);
    const measured = await one(kind, context);
    rows.push(...measured.rows);
    // Printed at once, because the whole case takes many minutes.
    console.error(markdown(measured.rows));
    raw[kind] = measured;
  }
  return { rows, raw };
}

async function one(kind, context) {
  const { load, provider, settings } = context;
  const server = await place(kind, context);
  const application = (options) =>
    startChild("store-server.mjs", {
      kind,
      url: server.url,
      provider: clientOf(provider),
      ...options,
    });
  const rows = [];
  const byCount = {};
  const plain = await application();
  try {
    const port = await plain.call("port");
    const cookie = await signIn(`http://127.0.0.1:${port}`, provider);
    let present = 0;
    let cookies;
    for (const count of settings.storeCounts) {
      if (cookies === undefined) {
        // The first round has only these users; later rounds spread users over all records.
        ({ cookies } = await plain.call("users", { cookie, count }));
        present = count;
      } else {
        const users = Math.min(USERS, count - present);
        ({ cookies } = await plain.call("users", { cookie, count: users }));
        await plain.call("fill", { count: count - present - users });
        present = count;
      }
      const name = count.toLocaleString("en-US");
      const targets = [
        { name: `probe, ${name}`, server: plain, port, path: "/idpauth/session", cookies },
        { name: `bare, ${name}`, server: plain, port, path: "/bare", cookies },
      ];
      const measured = await throughput(load, targets, settings);
      byCount[name] = measured;
      rows.push({
        ...ratioRow(
          `${STORE_NAMES[kind]}: the probe with ${name} records / a bare route that reads one value from the same store`,
          ratio(measured.values[`probe, ${name}`], measured.values[`bare, ${name}`]),
          { atLeast: kind === "postgres" ? 0.85 : 0.9 },
          `${inWords(measured, `probe, ${name}`, `bare, ${name}`)}; p50 ${milliseconds(measured.p50[`probe, ${name}`])} against ${milliseconds(measured.p50[`bare, ${name}`])}, ` +
            `p99 ${milliseconds(measured.p99[`probe, ${name}`])} against ${milliseconds(measured.p99[`bare, ${name}`])}`,
        ),
        perSecond: Math.round(median(measured.values[`probe, ${name}`])),
        p50: median(measured.p50[`probe, ${name}`]),
        p99: median(measured.p99[`probe, ${name}`]),
      });
    }
    const rates = Object.entries(byCount).map(([name, { values }]) => values[`probe, ${name}`]);
    rows.push(
      ratioRow(
        `${STORE_NAMES[kind]}: the probe with the most records / with the fewest`,
        ratio(rates.at(-1), rates[0]),
        { atLeast: 0.85 },
      ),
    );

    const { bytesPerSession } = await plain.call("weigh", { count: 10_000 });
    const { sealedBytes } = await plain.call("users", { cookie, count: 1 });
    rows.push(
      numberRow(
        `${STORE_NAMES[kind]}: bytes for each session`,
        bytesPerSession,
        undefined,
        `the encrypted record has ${sealedBytes} of them`,
        { unit: "bytes" },
      ),
    );

    const idle = await application({ idleTimeout: 86_400, keep: true });
    try {
      const idlePort = await idle.call("port");
      const idleCookie = await signIn(`http://127.0.0.1:${idlePort}`, provider);
      const { cookies: idleCookies } = await idle.call("users", {
        cookie: idleCookie,
        count: USERS,
      });
      const targets = [
        {
          name: "idle",
          server: idle,
          port: idlePort,
          path: "/idpauth/session",
          cookies: idleCookies,
        },
        { name: "bare", server: idle, port: idlePort, path: "/bare", cookies: idleCookies },
      ];
      const measured = await throughput(load, targets, settings);
      rows.push(
        numberRow(
          `${STORE_NAMES[kind]}: writes per second with the idle timeout on, each probe from a different user`,
          median(measured.values.idle),
          undefined,
          `${ratio(measured.values.idle, measured.values.bare).ratio.toFixed(2)} of the bare route, which only reads; p50 ${milliseconds(measured.p50.idle)}, p99 ${milliseconds(measured.p99.idle)}`,
          { spread: [Math.min(...measured.values.idle), Math.max(...measured.values.idle)] },
        ),
      );
      byCount.idle = measured;
    } finally {
      idle.stop();
    }
  } finally {
    plain.stop();
    await server.stop();
  }
  return { rows, byCount };
}

const milliseconds = (values) => `${median(values).toFixed(1)} ms`;
