// The end of sessions from outside: many sessions of one user that a back-channel logout ends, the
// time from an end to the close of an open connection in another process, and what open connections
// cost.
import { setTimeout as pause } from "node:timers/promises";
import { startChild } from "../children.mjs";
import { numberRow } from "../report.mjs";
import { clientOf } from "../sign-in.mjs";
import { place, STORE_NAMES } from "./stores.mjs";

/**
 * Milliseconds between two ends, so that those of a polled store are spread over all of its polls.
 */
const PACE = { told: 40, polled: 130 };

const number = (value) => value.toLocaleString("en-US");

/** Runs some work with a store's server and one or more processes over it. */
async function over(kind, context, processes, options, work) {
  const server = kind === "memory" ? { url: "", stop: async () => {} } : await place(kind, context);
  const children = [];
  try {
    const { provider } = context;
    for (let index = 0; index < processes; index += 1)
      children.push(
        await startChild("ends-server.mjs", {
          kind,
          url: server.url,
          provider: clientOf(provider),
          ...options,
        }),
      );
    return await work(...children);
  } finally {
    for (const child of children) child.stop();
    await server.stop();
  }
}

async function logoutOfMany(kind, context) {
  const count = context.settings.endedSessions;
  return over(kind, context, 1, {}, async (child) => {
    const sub = "a user with many sessions";
    await child.call("signIn", { count, sub });
    const measured = await child.call("backchannel", {
      token: context.provider.logoutToken({ sub }),
    });
    if (measured.status !== 200)
      throw new Error(`the logout was answered ${measured.status}: ${measured.text}`);
    if (measured.ended !== count)
      throw new Error(`the logout ended ${measured.ended} of ${count} sessions`);
    const { seconds, stop, idle } = measured;
    const note = `${seconds.toFixed(2)} s in all; an idle process stops for ${idle.toFixed(1)} ms in the same time`;
    const row = numberRow(
      `${STORE_NAMES[kind].split(",")[0]}: ${number(count)} sessions of one user end by one logout, longest stop of the event loop`,
      stop,
      { atMost: 50 },
      note,
      { unit: "ms" },
    );
    return { measured, rows: [row] };
  });
}

async function timeToClose(name, kind, context, options) {
  const count = context.settings.ends;
  const isTold = kind !== "sqlite" && (kind !== "postgres" || options.listens);
  return over(
    kind,
    context,
    kind === "memory" ? 1 : 2,
    options,
    async (ending, holding = ending) => {
      const cookies = await ending.call("signIn", { count });
      await holding.call("hold", { cookies });
      const begun = [];
      for (const cookie of cookies) {
        begun.push(await ending.call("end", { cookie }));
        await pause(isTold ? PACE.told : PACE.polled);
      }
      await pause(isTold ? 1_000 : 6_000);
      const aborts = new Map(await holding.call("aborts"));
      const times = begun
        .map((at, index) => (aborts.get(index) ?? Infinity) - at)
        .sort((a, b) => a - b);
      const at = (part) => times[Math.min(times.length - 1, Math.floor(times.length * part))];
      const note = `p50 ${at(0.5).toFixed(1)} ms, slowest ${times.at(-1).toFixed(1)} ms, ${number(count)} ends`;
      return {
        times,
        rows: [
          numberRow(
            `${name}: from a logout to the abort of \`whenEnded\`, p99`,
            at(0.99),
            { atMost: isTold ? 1_000 : 5_000 },
            note,
            { unit: "ms" },
          ),
        ],
      };
    },
  );
}

async function costOfConnections(kind, context) {
  const sessions = context.settings.heldSessions;
  return over(kind, context, 1, {}, async (child) => {
    const cookies = await child.call("signIn", { count: sessions });
    const measured = await child.call("weigh", { cookies });
    if (measured.open !== 2 * sessions)
      throw new Error(`${measured.open} of ${2 * sessions} connections are open`);
    const { bytes, timers, subscriptions, readsPerSecond } = measured;
    const note = `timers ${timers}, subscriptions ${subscriptions}, ${readsPerSecond.toFixed(1)} calls of the store per second`;
    const row = numberRow(
      `${STORE_NAMES[kind].split(",")[0]}: bytes for each of ${number(2 * sessions)} open connections of ${number(sessions)} sessions`,
      bytes,
      { atMost: 1_024 },
      note,
      { unit: "bytes" },
    );
    return { measured, rows: [row] };
  });
}

export async function ends(context) {
  const rows = [];
  const values = {};
  const add = async (name, measuring) => {
    console.error(`  ${name}`);
    const { rows: measured, ...rest } = await measuring;
    rows.push(...measured);
    values[name] = rest;
  };
  for (const kind of ["memory", "sqlite", "redis", "postgres"])
    await add(`logout ${kind}`, logoutOfMany(kind, context));
  await add("close memory", timeToClose("Memory", "memory", context, {}));
  await add("close redis", timeToClose("Redis", "redis", context, {}));
  await add(
    "close postgres, listen",
    timeToClose("PostgreSQL with `listen`", "postgres", context, { listens: true }),
  );
  await add("close postgres", timeToClose("PostgreSQL, polled", "postgres", context, {}));
  await add("close sqlite", timeToClose("SQLite, polled", "sqlite", context, {}));
  for (const kind of ["memory", "sqlite", "redis"])
    await add(`connections ${kind}`, costOfConnections(kind, context));
  return { rows, values };
}
