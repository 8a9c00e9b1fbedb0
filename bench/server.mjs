// One Express application per process: with idpauth, or with what idpauth is compared to.
import { createHash, randomBytes } from "node:crypto";
import express from "express";
import session from "express-session";
import { childOptions, idpauthEntry, serveCalls } from "./children.mjs";

const { kind, provider, maxSessions = 1_000, folder } = childOptions();
const [{ idpAuth }, { memoryStore }] = [
  await idpauthEntry("express", folder),
  await idpauthEntry("", folder),
];

const USER = {
  email: "ada@example.com",
  name: "Ada Lovelace",
  picture: "https://pictures.example.com/ada.png",
};

const kinds = {
  /** The same JSON from a bare route. */
  bare(app) {
    app.get("/session", (request, response) => {
      response.json({ authenticated: true, user: USER });
    });
  },

  /** express-session with a check written by hand. */
  "express-session"(app) {
    app.use(
      session({
        secret: "a secret of the benchmark, not of anybody",
        resave: false,
        saveUninitialized: false,
      }),
    );
    app.get("/sign-in", (request, response) => {
      request.session.credentials = {
        token: randomBytes(32).toString("hex"),
        refresh_token: randomBytes(32).toString("hex"),
      };
      request.session.id_info = {
        ...USER,
        exp: Math.floor(Date.now() / 1000) + 3600,
        sub: "ada",
        iss: "https://idp.example",
      };
      response.end();
    });
    app.get("/session", (request, response) => {
      const { credentials, id_info: idInfo } = request.session;
      if (credentials === undefined || !(idInfo?.exp > Date.now() / 1000))
        response.json({ authenticated: false, user: null });
      else
        response.json({
          authenticated: true,
          user: { email: idInfo.email, name: idInfo.name, picture: idInfo.picture },
        });
    });
  },

  idpauth(app) {
    const auth = idpAuth({
      env: {},
      log: false,
      secretKey: "a secret key of the benchmark, longer than it must be",
      ...provider,
      store,
    });
    auth.mount(app);
    const handler = (request, response) => {
      response.json({ authenticated: true });
    };
    app.get("/open", handler);
    app.get("/guarded", auth.idpRequired, handler);
  },
};

const store = memoryStore({ maxSessions });

/** The last signed-in entry that the real sign-in wrote: the pattern for the copies. */
let pattern;
const insert = store.insert.bind(store);
store.insert = (key, entry) => {
  if (entry.subject !== undefined) pattern = entry;
  return insert(key, entry);
};

function deepFreeze(value) {
  if (typeof value !== "object" || value === null) return value;
  for (const member of Object.values(value)) deepFreeze(member);
  return Object.freeze(value);
}

/**
 * Makes another user's session from the pattern. Two sessions share no object that two real
 * sessions would not share.
 */
function another(number) {
  const record = JSON.parse(JSON.stringify(pattern.data));
  const { credentials, id_info: idInfo } = record;
  const fresh = (text) => randomBytes(text.length).toString("base64url").slice(0, text.length);
  credentials.token = fresh(credentials.token);
  if (credentials.refresh_token) credentials.refresh_token = fresh(credentials.refresh_token);
  idInfo.sub = `person-${number}`;
  idInfo.email = `person-${number}@example.com`;
  idInfo.name = `Person ${number}`;
  return deepFreeze(record);
}

function memory() {
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const app = express();
kinds[kind](app);
const server = app.listen(0, "127.0.0.1");
await new Promise((resolve) => server.once("listening", resolve));

serveCalls({
  port: () => server.address().port,

  /** Microseconds of processor time so far, garbage collection included. */
  cpu: () => {
    const { user, system } = process.cpuUsage();
    return user + system;
  },

  /**
   * Fills the store. Returns cookies of sessions spread over all of them, and the bytes of a
   * session.
   */
  async fill({ count, cookies: wanted }) {
    const cookies = [];
    const every = Math.max(1, Math.floor(count / wanted));
    let json = 0;
    let slowestInsert = 0;
    const before = memory();
    for (let number = 0; number < count; number += 1) {
      const value = randomBytes(32).toString("base64url");
      const data = another(number);
      json += Buffer.byteLength(JSON.stringify(data));
      const subject = randomBytes(32).toString("base64url");
      const key = createHash("sha256").update(value).digest("base64url");
      const started = performance.now();
      await insert(key, { data, expiresAt: pattern.expiresAt, subject });
      slowestInsert = Math.max(slowestInsert, performance.now() - started);
      if (number % every === 0) cookies.push(`idpauth=${value}`);
      if (number % 10_000 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    const bytes = memory() - before;
    return {
      cookies,
      memoryPerSession: bytes / count,
      jsonPerSession: json / count,
      slowestInsert,
    };
  },
});
