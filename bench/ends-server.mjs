// One process over a store: it signs users in, ends sessions, and holds connections that wait for
// an end.
import { EventEmitter } from "node:events";
import { createServer, IncomingMessage, ServerResponse } from "node:http";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { idpAuth } from "idpauth/node";
import { signedInAs } from "idpauth/testing";
import { serveCalls, childOptions } from "./children.mjs";

const { kind, url, provider, listens = false } = childOptions();

const stores = {
  async memory() {
    const { memoryStore } = await import("idpauth");
    return memoryStore();
  },
  async sqlite() {
    const { sqliteStore } = await import("idpauth/sqlite");
    return sqliteStore(url);
  },
  async redis() {
    const { createClient } = await import("redis");
    const { redisStore } = await import("idpauth/redis");
    const client = createClient({ url, disableOfflineQueue: true });
    client.on("error", () => {});
    await client.connect();
    return redisStore(client);
  },
  async postgres() {
    const { Client, Pool } = (await import("pg")).default;
    const { postgresStore } = await import("idpauth/postgres");
    const pool = new Pool({ connectionString: url, max: 10, connectionTimeoutMillis: 2_000 });
    const listen = listens ? new Client({ connectionString: url }) : undefined;
    await listen?.connect();
    const store = postgresStore(pool, { ...(listen && { listen }) });
    await store.migrate();
    return store;
  },
};

const store = await stores[kind]();
const counts = { ended: 0, reads: 0, timers: 0, subscriptions: 0 };
for (const [name, counter, step] of [
  ["get", "reads", 1],
  ["getMany", "reads", 1],
]) {
  const original = store[name]?.bind(store);
  if (original !== undefined)
    store[name] = (...given) => {
      counts[counter] += step;
      return original(...given);
    };
}
const watchEnds = store.watchEnds?.bind(store);
if (watchEnds !== undefined)
  store.watchEnds = (watcher) => {
    counts.subscriptions += 1;
    return watchEnds(watcher);
  };

/** Counts the timers that wait. */
const clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  timer(milliseconds, task) {
    counts.timers += 1;
    const end = () => ((counts.timers -= waiting ? 1 : 0), (waiting = false));
    let waiting = true;
    const timer = setTimeout(() => {
      end();
      task();
    }, milliseconds).unref();
    return () => {
      clearTimeout(timer);
      end();
    };
  },
};

const auth = idpAuth({
  env: {},
  log: false,
  clock,
  secretKey: "a secret key of the benchmark, longer than it must be",
  ...provider,
  backchannelLogout: true,
  baseUrl: "http://app.example",
  store,
});
auth.on("ended", () => (counts.ended += 1));
const handle = auth.listener((_, response) => response.end());
const server = createServer(handle).listen(0, "127.0.0.1");

/** A request without a connection. */
function requestOf(method, path, cookie) {
  const socket = Object.assign(new EventEmitter(), {
    encrypted: false,
    remoteAddress: "127.0.0.1",
    destroyed: false,
  });
  const request = new IncomingMessage(socket);
  request.method = method;
  request.url = path;
  request.headers = { host: "app.example", ...(cookie && { cookie }) };
  request.rawHeaders = Object.entries(request.headers).flat();
  request.push(null);
  return request;
}

function respond(request) {
  const response = new ServerResponse(request);
  return new Promise((resolve) => {
    response.end = function end() {
      resolve(response.statusCode);
      return this;
    };
    handle(request, response);
  });
}

const timeNow = () => performance.timeOrigin + performance.now();

/** Returns the longest stop of the event loop during `work`, in milliseconds. */
async function longestStop(work) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  await work();
  delay.disable();
  return Math.max(0, delay.max / 1e6 - 1);
}

const held = [];
const aborted = new Map();

serveCalls({
  /** Signs in that many sessions; with `sub` all of one user. Returns their cookies. */
  async signIn({ count, sub }) {
    const cookies = [];
    while (cookies.length < count) {
      const some = Array.from({ length: Math.min(50, count - cookies.length) }, () =>
        signedInAs(auth, { ...(sub && { sub }), exp: Math.floor(Date.now() / 1000) + 86_400 }),
      );
      cookies.push(...(await Promise.all(some)));
    }
    return cookies;
  },

  /**
   * Posts a logout token. Returns the seconds, and the longest stops of the event loop: meanwhile,
   * and in the same time without work.
   */
  async backchannel({ token }) {
    let reply;
    globalThis.gc();
    const started = performance.now();
    const stop = await longestStop(async () => {
      const body = new URLSearchParams({ logout_token: token });
      reply = await fetch(`http://127.0.0.1:${server.address().port}/idpauth/backchannel-logout`, {
        method: "POST",
        body,
      });
    });
    const elapsed = performance.now() - started;
    const idle = await longestStop(() => pause(elapsed));
    return {
      status: reply.status,
      text: await reply.text(),
      ended: counts.ended,
      seconds: elapsed / 1000,
      stop,
      idle,
    };
  },

  /** Opens a connection that waits for the end of each session. */
  async hold({ cookies }) {
    for (const [index, cookie] of cookies.entries()) {
      const signal = auth.whenEnded(requestOf("GET", "/events", cookie));
      signal.addEventListener("abort", () => aborted.set(index, timeNow()));
      held.push(signal);
    }
    // The first look, and the subscription.
    await pause(2_500);
  },

  /** Ends one session by its logout. Returns when the request began. */
  async end({ cookie }) {
    const at = timeNow();
    const status = await respond(requestOf("GET", "/idpauth/logout/?response=json", cookie));
    if (status !== 200) throw new Error(`the logout was answered ${status}`);
    return at;
  },

  aborts: () => [...aborted],

  /** Weighs that many connections: two for each session. */
  async weigh({ cookies }) {
    const requests = [...cookies, ...cookies].map((cookie) => requestOf("GET", "/events", cookie));
    const signals = new Array(requests.length);
    await pause(200);
    const heap = () => {
      for (let round = 0; round < 4; round += 1) globalThis.gc();
      return process.memoryUsage().heapUsed;
    };
    const before = heap();
    const timersBefore = counts.timers;
    for (const [index, request] of requests.entries()) {
      signals[index] = auth.whenEnded(request);
      if (index % 500 === 499) await pause(5);
    }
    await pause(6_000);
    const bytes = (heap() - before) / requests.length;
    const timers = counts.timers - timersBefore;
    counts.reads = 0;
    const seconds = 20;
    await pause(seconds * 1000);
    const open = signals.filter(({ aborted: isOver }) => !isOver).length;
    return {
      bytes,
      open,
      timers,
      subscriptions: counts.subscriptions,
      readsPerSecond: counts.reads / seconds,
    };
  },
});
