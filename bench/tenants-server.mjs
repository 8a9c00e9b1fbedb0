// An application whose providers come from a source, called without a socket of its own. Users sign
// in as a browser does, but the code is written here, as the provider would.
import { childOptions, idpauthEntry, serveCalls } from "./children.mjs";

const { origin, limit } = childOptions();
const [{ idpAuth }, { memoryStore, providerSource }] = [
  await idpauthEntry("fetch"),
  await idpauthEntry(""),
];

const OWN_ORIGIN = "http://app.example";
/** Requests of the customer that hangs, at a time, and the milliseconds until the next of each. */
const HANGING_AT_A_TIME = 32;
const HANGING_PAUSE_MS = 100;

/** Milliseconds by which the clock is ahead. */
let ahead = 0;
const clock = {
  now: () => Date.now() + ahead,
  monotonic: () => performance.now(),
  timer(milliseconds, task) {
    const timer = setTimeout(task, milliseconds).unref();
    return () => clearTimeout(timer);
  },
};

const store = memoryStore();
/** The sessions of those who have signed in and aren't needed any more. */
const sessions = new Set();
const insert = store.insert.bind(store);
store.insert = (key, entry) => {
  sessions.add(key);
  return insert(key, entry);
};

/** Ends them: the memory of sessions is measured elsewhere. */
async function leave() {
  for (const key of sessions) await store.delete(key);
  sessions.clear();
}

const auth = idpAuth({
  env: {},
  log: false,
  secretKey: "a secret key of the benchmark, longer than it must be",
  baseUrl: OWN_ORIGIN,
  scope: ["openid", "email", "profile", "offline_access"],
  store,
  clock,
  providers: providerSource({
    find: async (key) => ({
      issuer: `${origin}/t/${key}`,
      clientId: "client",
      clientSecret: `a client secret of ${key}, as long as one is`,
    }),
    limit,
    internalHosts: [new URL(origin).host],
  }),
});

function ask(target, cookie) {
  const headers = { "sec-fetch-site": "none", "sec-fetch-mode": "navigate", accept: "text/html" };
  return auth.fetch(
    new Request(`${OWN_ORIGIN}${target}`, {
      headers: cookie === undefined ? headers : { ...headers, cookie },
    }),
  );
}

const cookieOf = (response) => response.headers.getSetCookie()[0]?.split(";", 1)[0];

async function signIn(key, sub = "ada") {
  const login = await ask(`/idpauth/login/?provider=${key}`);
  if (login.status !== 302) throw new Error(`the login at ${key}: ${login.status}`);
  const { searchParams: sent } = new URL(login.headers.get("location"));
  const code = Buffer.from(JSON.stringify({ sub, nonce: sent.get("nonce") })).toString("base64url");
  const answer = new URLSearchParams({ code, state: sent.get("state") });
  const callback = await ask(`/idpauth/login-callback/${key}?${answer}`, cookieOf(login));
  const cookie = cookieOf(callback);
  if (callback.status !== 302 || cookie === undefined)
    throw new Error(`the callback at ${key}: ${callback.status} ${await callback.text()}`);
  return cookie;
}

async function read(cookie) {
  const response = await ask("/idpauth/session", cookie);
  const body = await response.text();
  if (!body.includes('"authenticated":true')) throw new Error(`${response.status} ${body}`);
}

/** Does the work for each item, a few at a time. Returns the milliseconds of each. */
async function each(items, work, atATime = 8) {
  const waiting = items.entries();
  const durations = [];
  await Promise.all(
    Array.from({ length: atATime }, async () => {
      for (const [index, item] of waiting) {
        const started = performance.now();
        await work(item);
        durations[index] = performance.now() - started;
      }
    }),
  );
  return durations;
}

const turn = () => new Promise((resolve) => setTimeout(resolve, 20));

async function memory() {
  await leave();
  for (let time = 0; time < 4; time += 1) {
    globalThis.gc();
    await turn();
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heap: heapUsed + external, rss };
}

const keysOf = (prefix, from, count) =>
  Array.from({ length: count }, (_, index) => `${prefix}-${from + index}`);

/** Users of customers whose providers respond. */
let users = [];
/** The requests of the customer that hangs. */
let ended = Promise.resolve();

serveCalls({
  /** Signs a user in at each of these customers, and returns the memory after that. */
  async visit({ prefix, from, count }) {
    await each(keysOf(prefix, from, count), (key) => signIn(key));
    return memory();
  },

  /** Signs users in at one customer, and returns the memory after that. */
  async same({ key, count }) {
    await each(
      Array.from({ length: count }, () => key),
      (same) => signIn(same),
    );
    return memory();
  },

  async signIn(key) {
    await signIn(key);
  },

  /** Signs users in at customers whose providers respond. They stay signed in. */
  async users({ tenants, count }) {
    const keys = keysOf("good", 0, tenants);
    users = [];
    for (let user = 0; user < count; user += 1) {
      const key = keys[user % tenants];
      users.push({ key, cookie: await signIn(key, `user-${user}`) });
    }
    // They stay.
    sessions.clear();
  },

  /** Signs users in at the customer whose provider will hang. Returns their cookies. */
  async victims({ key, count }) {
    const cookies = [];
    for (let user = 0; user < count; user += 1) cookies.push(await signIn(key, `user-${user}`));
    return cookies;
  },

  advance: (milliseconds) => void (ahead += milliseconds),

  /**
   * Refreshes the session of each user of the others, and signs as many in, while users of the
   * customer that hangs, if there is one, send their requests.
   */
  async round({ key, victims = [] }) {
    let isOver = false;
    const places = key === undefined ? 0 : HANGING_AT_A_TIME;
    const others = Array.from({ length: places }, async (_, place) => {
      for (let next = place; !isOver; next += places) {
        // Half of them are logins at a provider whose document hasn't come yet.
        if (place % 2 === 0) await ask(`/idpauth/login/?provider=${key}-new`);
        else await ask("/idpauth/session", victims[next % victims.length]);
        await new Promise((resolve) => setTimeout(resolve, HANGING_PAUSE_MS));
      }
    });
    ended = Promise.all(others);
    await turn();
    const refreshes = await each(users, ({ cookie }) => read(cookie));
    const logins = await each(users, (user) => signIn(user.key));
    isOver = true;
    return { refreshes, logins };
  },

  /** Resolves when the requests of the customer that hangs have ended. */
  async ended() {
    await ended;
    await leave();
  },
});
