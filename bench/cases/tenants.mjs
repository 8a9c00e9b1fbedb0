// Providers from a source: what a remembered one costs, whether memory stays flat while more come
// than are remembered, the requests of a first login, and what one that hangs does to the others.
//
// All providers are paths of one server, so they share its connections, whose memory isn't counted.
// In production, each customer's provider may be an origin of its own; connections are kept to the
// last 100 origins.
import { startChild } from "../children.mjs";
import { interleave, median, ratio } from "../rounds.mjs";
import { numberRow, ratioRow } from "../report.mjs";

const REMEMBERED = 1_000;
/** Customers before the first measurement, so that everything is loaded and compiled. */
const WARM_UP = 300;
/** Kinds of providers: with as many keys as a small one publishes, and as a large one. */
const KINDS = {
  "2 keys": { keys: 2 },
  "7 keys with certificates": { keys: 7, certificates: true },
};
const USERS = 200;
const TENANTS = 20;
/** Users of the customer whose provider hangs, who sign in before each round. */
const VICTIMS = 64;
const HOURS_MS = 2 * 3_600_000;

const kilobytes = (bytes) => bytes / 1_000;

async function start(options, limit) {
  const provider = await startChild("tenants-provider.mjs", options);
  const origin = await provider.call("origin");
  const server = await startChild("tenants-server.mjs", { origin, limit });
  return {
    provider,
    server,
    stop() {
      server.stop();
      provider.stop();
    },
  };
}

/** What each remembered provider costs after its first login. */
async function memoryOfOne(options) {
  const { server, stop } = await start(options, 10 * REMEMBERED);
  try {
    await server.call("same", { key: "warm", count: 1_200 });
    const before = await server.call("visit", { prefix: "warm", from: 0, count: WARM_UP });
    const after = await server.call("visit", { prefix: "key", from: 0, count: REMEMBERED });
    const same = await server.call("same", { key: "warm", count: REMEMBERED });
    return {
      heap: (after.heap - before.heap) / REMEMBERED,
      resident: (after.rss - before.rss) / REMEMBERED,
      /** What as many logins at one provider add. */
      same: (same.heap - after.heap) / REMEMBERED,
    };
  } finally {
    stop();
  }
}

/** The memory after each thousand of customers, of whom a thousand are remembered. */
async function memoryInTurn(count) {
  const { server, stop } = await start(KINDS["7 keys with certificates"], REMEMBERED);
  try {
    const memory = [];
    for (let from = 0; from < count; from += REMEMBERED)
      memory.push(await server.call("visit", { prefix: "turn", from, count: REMEMBERED }));
    return memory;
  } finally {
    stop();
  }
}

/** The requests that the first login and the second one send to the provider. */
async function roundTrips() {
  const { provider, server, stop } = await start({}, REMEMBERED);
  try {
    await server.call("signIn", "acme");
    const first = await provider.call("requests", "acme");
    await server.call("signIn", "acme");
    return { first, second: (await provider.call("requests", "acme")) - first };
  } finally {
    stop();
  }
}

/** The slowest hundredth of the others' refreshes and logins, with and without one that hangs. */
async function besideOneThatHangs(rounds) {
  const { provider, server, stop } = await start({}, REMEMBERED);
  const held = [];
  let round = 0;
  const measure = async (hangs) => {
    round += 1;
    const key = `slow-${round}`;
    const victims = await server.call("victims", { key, count: VICTIMS });
    for (const child of [provider, server]) await child.call("advance", HOURS_MS);
    await provider.call("hang", hangs ? [key, `${key}-new`] : []);
    const measured = await server.call("round", hangs ? { key, victims } : {});
    held.push(await provider.call("hang", []));
    await server.call("ended");
    return measured;
  };
  try {
    await server.call("users", { tenants: TENANTS, count: USERS });
    const values = await interleave(
      { alone: () => measure(false), beside: () => measure(true) },
      rounds,
    );
    return { values, held: Math.max(...held) };
  } finally {
    stop();
  }
}

function p99(durations) {
  const sorted = [...durations].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length * 0.99)];
}

/** The row of one kind of work, by the slowest hundredth of each round. */
function hangingRow(what, { alone, beside }) {
  const [with_, without] = [beside.map(p99), alone.map(p99)];
  const milliseconds = (values) => `${median(values).toFixed(1)} ms`;
  return ratioRow(
    `The 99th percentile of ${what} at ${TENANTS} customers: while the provider of one more hangs / without it`,
    ratio(with_, without),
    { atMost: 1.05 },
    `${milliseconds(with_)} and ${milliseconds(without)}; the 50th percentile ${milliseconds(beside.flat())} and ${milliseconds(alone.flat())}`,
  );
}

export async function tenants({ settings }) {
  const rows = [];
  const values = {};
  for (const [kind, options] of Object.entries(KINDS)) {
    const one = await memoryOfOne(options);
    values[kind] = one;
    rows.push(
      numberRow(
        `A remembered provider after its first login, ${kind}: memory`,
        kilobytes(one.heap),
        { atMost: 25 },
        `resident ${kilobytes(one.resident).toFixed(1)} kB; as many logins at one provider add ${kilobytes(one.same).toFixed(2)} kB each`,
        { unit: "kB" },
      ),
    );
  }

  const inTurn = await memoryInTurn(settings.tenantsInTurn);
  values.inTurn = inTurn;
  const heaps = inTurn.map(({ heap }) => heap);
  // The first thousand fill the list, and the second one replaces it.
  const full = heaps.slice(1);
  const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
  rows.push(
    ratioRow(
      `${settings.tenantsInTurn.toLocaleString("en-US")} customers in turn, of whom ${REMEMBERED.toLocaleString("en-US")} are remembered: memory after all / after 2,000`,
      {
        ratio: full.at(-1) / full[0],
        min: Math.min(...full) / full[0],
        max: Math.max(...full) / full[0],
      },
      { atMost: 1.05 },
      `${megabytes(full.at(-1))} and ${megabytes(full[0])}; resident ${megabytes(inTurn.at(-1).rss)} and ${megabytes(inTurn[1].rss)}`,
    ),
  );

  const { first, second } = await roundTrips();
  values.roundTrips = { first, second };
  rows.push(
    numberRow(
      "Requests to the provider in a customer's first login beyond those of the second",
      first - second,
      { atMost: 2 },
      `${first} and ${second}`,
    ),
  );

  const { values: beside, held } = await besideOneThatHangs(settings.rounds);
  const only = (work) =>
    Object.fromEntries(
      Object.entries(beside).map(([name, rounds]) => [name, rounds.map((each) => each[work])]),
    );
  values.beside = { held, ...beside };
  rows.push(hangingRow("refreshes", only("refreshes")), hangingRow("logins", only("logins")));
  return { rows, values };
}
