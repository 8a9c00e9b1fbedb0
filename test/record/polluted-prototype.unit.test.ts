import { LEAVING } from "../support/left-sign-in-trace.js";
import { beforeEach, describe, expect, it } from "vitest";
import { mayFinish, signedIn, withLogin, withoutLogin } from "../../src/record/pending-logins.js";
import { judge, remaining } from "../../src/record/session-policy.js";
import { userPayload } from "../../src/record/identity.js";
import {
  EMPTY_RECORD,
  isOfClients,
  type PendingLogin,
  type SessionRecord,
} from "../../src/record/record.js";
import { parseRecord, storedForm } from "../../src/record/stored-form.js";
import { epochSeconds } from "../../src/clock.js";
import { createBundledSessions } from "../../src/sessions/bundled-sessions.js";
import {
  createFrameworkSessions,
  type FrameworkSession,
} from "../../src/sessions/framework-session.js";
import { createSealer } from "../../src/sessions/seal.js";
import { memoryStore } from "../../src/stores/memory/memory-store.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { createReportedStore } from "../../src/sessions/store-failures.js";
import { polluted } from "../support/polluted.js";
import { SealingStore } from "../support/sealing-store.js";

const clock = new TestClock();
const NOW = epochSeconds(clock);
const NAMES = {
  credentials: "credentials",
  oauth_state: "oauth_state",
  final_redirect: "final_redirect",
};
const CLIENT = { issuer: "https://idp.example", clientId: "client" };
const POLICY = { sessionAutoRefresh: true, sessionMaxAge: 3600, sessionIdleTimeout: 600 };

const CREDENTIALS = {
  token: "evil",
  refresh_token: "evil",
  token_uri: "",
  client_id: "client",
  client_secret: "",
  scopes: [],
};
const LOGIN: PendingLogin = {
  state: "state",
  nonce: "nonce",
  verifier: "verifier",
  final_redirect: "https://app.example/",
  redirect_uri: "https://app.example/idpauth/login-callback",
  issuer: "https://idp.example",
  started_at: NOW,
};
const CLAIMS = {
  exp: NOW + 3600,
  iat: NOW,
  iss: "https://idp.example",
  sub: "eve",
  aud: "client",
  email: "eve@example.com",
  name: "Eve",
  picture: "x",
};

/** Every key of a record, at every level, with a value that would pass the checks. */
const RECORD_KEYS = {
  credentials: CREDENTIALS,
  id_info: CLAIMS,
  oauth_state: "state",
  final_redirect: "https://evil.example/",
  debug: { evil: true },
  idp_login_at: NOW,
  idp_last_active: NOW,
  idp_state: { v: 1, logins: [LOGIN], issuer: "https://idp.example" },
};
const STATE_KEYS = {
  v: 1,
  logins: [LOGIN],
  used: ["hash"],
  lease: { nonce: "evil", taken_at: NOW },
  refresh_rejected: true,
  silent_failed_at: NOW,
  ended: "idle",
  access_token_expires_at: NOW + 3600,
  issuer: "https://idp.example",
};
const EVERY_KEY = {
  ...CLAIMS,
  ...CREDENTIALS,
  ...LOGIN,
  carried: true,
  cross_site: true,
  unattended: true,
  silent: true,
  taken_at: NOW,
  ...STATE_KEYS,
  ...RECORD_KEYS,
};

/** A signed-in record without anything that it can do without. */
const BARE = {
  credentials: { token: "own", token_uri: "", client_id: "client", client_secret: "", scopes: [] },
  id_info: {},
  idp_state: { v: 1 as const },
};

describe("[SM-8] reading a stored record while Object.prototype is polluted", () => {
  it.each(Object.entries(EVERY_KEY))(
    "the key %s is not inherited by any part of it",
    async (key, value) => {
      const stored = JSON.parse(
        JSON.stringify({
          ...BARE,
          idp_state: { v: 1, logins: [LOGIN], lease: { nonce: "n", taken_at: 1 } },
        }),
      ) as object;
      const values = await polluted({ [key]: value }, () => {
        const record = parseRecord(stored, NAMES);
        if (record === undefined) throw new Error("The record does not parse.");
        const state = record.idp_state;
        const parts = [
          record,
          record.credentials,
          record.id_info,
          state,
          state.lease,
          state.logins?.[0],
        ];
        return parts.map((part) => {
          if (part === undefined) throw new Error("A part is missing.");
          return Object.hasOwn(part, key)
            ? undefined
            : (part as Readonly<Record<string, unknown>>)[key];
        });
      });
      expect(values).toEqual(Array.from({ length: 6 }, () => undefined));
    },
  );

  it.each(["token", "token_uri", "client_id", "client_secret", "scopes"] as const)(
    "credentials without %s are no session",
    async (key) => {
      const { [key]: _gone, ...credentials } = BARE.credentials;
      await polluted(EVERY_KEY, () => {
        expect(parseRecord({ ...BARE, credentials }, NAMES)).toBeUndefined();
      });
    },
  );

  it.each([
    "state",
    "nonce",
    "verifier",
    "final_redirect",
    "redirect_uri",
    "issuer",
    "started_at",
  ] as const)("a pending login without %s is no session", async (key) => {
    const { [key]: _gone, ...login } = LOGIN;
    await polluted(EVERY_KEY, () => {
      expect(parseRecord({ idp_state: { v: 1, logins: [login] } }, NAMES)).toBeUndefined();
    });
  });

  it("data without a record is no session", async () => {
    await polluted(EVERY_KEY, () => {
      expect(parseRecord({ cart: "book" }, NAMES)).toBeUndefined();
      expect(parseRecord({ idp_state: {} }, NAMES)).toBeUndefined();
    });
  });

  it("under other names, too", async () => {
    await polluted({ "idp.credentials": CREDENTIALS, state: "evil", next: "/evil" }, () => {
      const record = parseRecord(
        { idp_state: { v: 1 } },
        { credentials: "idp.credentials", oauth_state: "state", final_redirect: "next" },
      );
      expect([record?.credentials, record?.oauth_state, record?.final_redirect]).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
    });
  });
});

/** What the rules say of a record: one line for each rule that reads it. */
function verdicts(record: SessionRecord | undefined): unknown {
  return [
    judge(record, POLICY, NOW),
    record && remaining(record, POLICY, NOW),
    userPayload(record?.id_info),
    record && isOfClients(record, { clients: [CLIENT] }),
    record && record.idp_state.logins?.map((login) => mayFinish(record, login, { idInfo: CLAIMS })),
    record && JSON.stringify(storedForm(record, NAMES)),
  ];
}

let data: Record<string, unknown>;
const host: FrameworkSession = {
  id: "one",
  get data() {
    return data;
  },
  load: () => Promise.resolve(data),
  save(keys) {
    for (const [key, value] of Object.entries(keys)) {
      if (value === undefined) Reflect.deleteProperty(data, key);
      else data[key] = value;
    }
    return Promise.resolve();
  },
  regenerate(keys, keepApplicationKeys) {
    if (!keepApplicationKeys) data = {};
    return host.save(keys);
  },
  destroy: () => Promise.resolve(),
};

beforeEach(() => {
  data = { cart: "book" };
});

const bundledOver = (store: ReturnType<typeof memoryStore> | SealingStore) => {
  const sessions = createBundledSessions({
    keepIdToken: false,
    store: createReportedStore(store, clock),
    sealer: createSealer("a secret key of at least 32 bytes", []),
    clock,
    names: NAMES,
    policy: { sessionAutoRefresh: true, sessionMaxAge: null, sessionIdleTimeout: null },
    cookieName: "sid",
    publicPath: "/idpauth/",
    clients: [CLIENT],
    namesProviders: false,
    sessionTtl: 3600,
    debug: false,
  });
  let cookie: string | undefined;
  return () => {
    const session = sessions.open(cookie, false);
    return { session, keepCookie: () => (cookie = session.setCookies[0]?.split(";")[0] ?? cookie) };
  };
};

const OPENERS: [string, () => ReturnType<typeof bundledOver>][] = [
  ["the memory store", () => bundledOver(memoryStore({ clock }))],
  ["a store outside the process", () => bundledOver(new SealingStore(clock))],
  [
    "the sessions of the framework",
    () => {
      const sessions = createFrameworkSessions({
        clock: new TestClock(),
        policy: { sessionAutoRefresh: true, sessionMaxAge: null, sessionIdleTimeout: null },
        names: NAMES,
        clients: [CLIENT],
        namesProviders: false,
        debug: false,
      });
      return () => ({ session: sessions.open(host), keepCookie: () => undefined });
    },
  ],
];

describe.each(OPENERS)(
  "[SM-8] sessions over %s while Object.prototype is polluted",
  (_name, opener) => {
    const steps: [string, (record: SessionRecord) => SessionRecord][] = [
      ["a pending login", (record) => withLogin(record, LOGIN)],
      [
        "a login that was used up",
        (record) => withoutLogin(withLogin(record, LOGIN), { state: "state", stateHash: "hash" }),
      ],
      [
        "a bare sign-in",
        (record) =>
          signedIn(record, {
            signIn: {
              credentials: BARE.credentials,
              idInfo: {},
              idToken: "an ID token",
              userinfoClaims: [],
              receivedAt: NOW,
              accessTokenExpiresAt: undefined,
            },
            login: LOGIN,
            now: NOW,
            stampsActivity: false,
          }),
      ],
      [
        "a sign-in without stamps",
        ({ idp_state: state }) => ({
          ...BARE,
          idp_state: { ...state, issuer: "https://idp.example" },
        }),
      ],
    ];

    it.each(steps)("%s reads the same as without", async (_step, change) => {
      const seen = async () => {
        data = { cart: "book" };
        const open = opener();
        const first = open();
        const results: unknown[] = [verdicts(await first.session.read())];
        results.push(verdicts(await first.session.begin(change)));
        first.keepCookie();
        results.push(verdicts(await open().session.read()));
        results.push(
          verdicts(
            (await open().session.update((record) => ({ ...record, oauth_state: "other" }))).record,
          ),
        );
        const moved = open();
        results.push(
          verdicts(
            await moved.session.regenerate(
              (record) => ({ ...record, final_redirect: "/" }),
              LEAVING,
            ),
          ),
        );
        moved.keepCookie();
        results.push(verdicts(await open().session.read()));
        return results;
      };
      const clean = await seen();
      expect(clean[2]).not.toEqual(clean[0]);
      for (const [key, value] of Object.entries(RECORD_KEYS)) {
        const results = await polluted({ [key]: value }, seen);
        expect([key, results]).toEqual([key, clean]);
      }
      for (const keys of [CLAIMS, { refresh_token: "evil" }, { carried: true }])
        expect(await polluted(keys, seen)).toEqual(clean);
    });
  },
);

it("the empty record has nothing but its version", async () => {
  await polluted(EVERY_KEY, () => {
    expect(JSON.stringify(storedForm(EMPTY_RECORD, NAMES))).toBe('{"idp_state":{"v":1}}');
    expect(judge(EMPTY_RECORD, POLICY, NOW)).toEqual({ kind: "ended", reason: "no_credentials" });
  });
});
