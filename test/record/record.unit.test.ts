import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  credentialsToDict,
  frozenCredentials,
  type ProviderCredentials,
} from "../../src/record/credentials.js";
import {
  claimsWithOutput,
  hasSubject,
  isSameUser,
  sessionUser,
  userPayload,
} from "../../src/record/identity.js";
import { apiEntry, withApiEntry } from "../../src/record/stored-api-tokens.js";
import { deepFreeze } from "../../src/record/json.js";
import { MAX_PENDING_LOGINS, MAX_USED_STATES } from "../../src/record/pending-logins.js";
import {
  EMPTY_RECORD,
  isOfClients,
  withoutIdToken,
  withoutInherited,
  type SessionRecord,
} from "../../src/record/record.js";
import {
  FIXED_KEYS,
  parseRecord,
  specifiedKeys,
  storedForm,
  type KeyNames,
} from "../../src/record/stored-form.js";
import { hasEpochTimePassed } from "../../src/clock.js";

const NAMES: KeyNames = {
  credentials: "credentials",
  oauth_state: "oauth_state",
  final_redirect: "final_redirect",
};
const OTHER_NAMES: KeyNames = {
  credentials: "idp.credentials",
  oauth_state: "State-Key",
  final_redirect: "zurück",
};

const LOGIN = {
  state: "state",
  nonce: "nonce",
  verifier: "verifier",
  final_redirect: "https://app.example/reports",
  redirect_uri: "https://app.example/idpauth/login-callback",
  issuer: "https://idp.example",
  started_at: 1_800_000_000,
};

const CREDENTIALS = {
  token: "access",
  refresh_token: "refresh",
  token_uri: "https://idp.example/token",
  client_id: "client",
  client_secret: "secret",
  scopes: ["openid", "email"],
};

/** A record with everything in it, as JSON has it. */
function full(): Record<string, unknown> {
  return {
    credentials: { ...CREDENTIALS },
    id_info: {
      sub: "ada",
      iss: "https://idp.example",
      aud: "client",
      exp: 1_800_003_600,
      email: "ada@example.com",
      name: "Ada",
    },
    oauth_state: "state",
    final_redirect: "https://app.example/reports",
    debug: { anything: [1, null] },
    idp_login_at: 1_800_000_000,
    idp_last_active: 1_800_000_100,
    idp_state: {
      v: 1,
      logins: [
        {
          ...LOGIN,
          cross_site: true,
          unattended: true,
          silent: true,
          step_up: { max_age: 60, acr: ["gold"] },
          api: "orders",
        },
      ],
      silent_failed_at: 1_800_000_000,
      used: ["hash"],
      lease: { nonce: "holder", taken_at: 1_800_000_000 },
      refresh_rejected: true,
      ended: "idle",
      access_token_expires_at: 1_800_003_600,
      tokens_received_at: 1_800_000_000,
      forced_at: 1_800_000_000,
      rejected_token: "hash",
      apis: {
        orders: {
          target: "[]",
          at: 1_800_000_000,
          token: "for orders",
          expires_at: 1_800_003_600,
          forced: true,
        },
        billing: { target: "[]", at: 1_800_000_000, refused: "consent_required" },
      },
      asked_apis: ["orders"],
      userinfo_claims: ["email"],
      dropped_token: "dropped",
      issuer: "https://idp.example",
      data: { userId: 7, tags: ["a", { b: null }] },
      claims: { groups: ["admin"] },
      claims_version: "1",
      review_due: true,
      rejected: "denied",
      id_token: "header.payload.signature",
      sid: "provider session",
      signed_in_iat: 1_800_000_000,
      session_expiry: 1_800_007_200,
    },
  };
}

/** The full record with one place changed; `undefined` takes it away. */
function changed(path: string, value: unknown): unknown {
  const record = full();
  const keys = path.split(".");
  const last = keys.pop() ?? "";
  let holder: Record<string, unknown> = record;
  for (const key of keys) holder = holder[key] as Record<string, unknown>;
  if (value === undefined) Reflect.deleteProperty(holder, last);
  else holder[last] = value;
  return JSON.parse(JSON.stringify(record)) as unknown;
}

describe("reading a stored record", () => {
  it("a full record is read, under any three names", () => {
    const record = parseRecord(full(), NAMES);
    expect(record).toEqual(full());
    for (const names of [NAMES, OTHER_NAMES])
      expect(parseRecord(storedForm(record!, names), names)).toEqual(record);
  });

  it("an empty record is a record", () => {
    expect(parseRecord({ idp_state: { v: 1 } }, NAMES)).toEqual(EMPTY_RECORD);
  });

  it.each([
    undefined,
    null,
    true,
    false,
    0,
    1,
    "",
    "text",
    JSON.stringify(full()),
    [],
    [full()],
    {},
    Symbol("record"),
    () => full(),
  ] as unknown[])("%s is no session", (stored) => {
    expect(parseRecord(stored, NAMES)).toBeUndefined();
  });

  it("what is not stored is not stored again, not even as undefined", () => {
    expect(storedForm(parseRecord({ idp_state: { v: 1 } }, NAMES)!, NAMES)).toStrictEqual({
      idp_state: { v: 1 },
    });
  });

  it("eight pending logins and eight used states are still a session", () => {
    const state = {
      v: 1,
      logins: Array.from({ length: 8 }, () => LOGIN),
      used: Array.from({ length: 8 }, () => "hash"),
    };
    expect(parseRecord({ idp_state: state }, NAMES)).toEqual({ idp_state: state });
  });

  it("a record with tokens for nine APIs is no session, and the eight of the name `__proto__` and others are only entries", () => {
    const named = (names: readonly string[]) =>
      Object.fromEntries(names.map((name) => [name, { target: "[]", at: 1, token: "t" }]));
    const names = ["__proto__", "constructor", "toString", "a", "b", "c", "d", "e"];
    const record = parseRecord(changed("idp_state.apis", named(names)), NAMES);
    expect(Object.keys(record?.idp_state.apis ?? {})).toEqual(names);
    expect(apiEntry(record!, "__proto__", "[]")?.token).toBe("t");
    expect(apiEntry(record!, "valueOf", "[]")).toBeUndefined();
    expect(({} as { token?: unknown }).token).toBeUndefined();
    const next = withApiEntry(record!, {
      api: "orders",
      entry: { target: "[]", at: 2, token: "t" },
      now: 2,
    });
    expect(Object.keys(next.idp_state.apis ?? {}).length).toBe(8);
    expect(parseRecord(changed("idp_state.apis", named([...names, "f"])), NAMES)).toBeUndefined();
  });

  it.each([
    [],
    "orders",
    null,
    7,
    { orders: null },
    { orders: [] },
    { orders: "token" },
    { orders: {} },
    { orders: { target: "[]" } },
    { orders: { target: "[]", at: "1" } },
    { orders: { target: 7, at: 1 } },
    { orders: { target: "[]", at: 1, token: 7 } },
    { orders: { target: "[]", at: 1, token: "" } },
    { orders: { target: "[]", at: 1, expires_at: "never" } },
    { orders: { target: "[]", at: 1, forced: "yes" } },
    { orders: { target: "[]", at: 1, refused: {} } },
  ])("a record with the APIs %j is no session", (apis) => {
    expect(parseRecord(changed("idp_state.apis", apis), NAMES)).toBeUndefined();
  });

  it.each([undefined, 0, 2, "1", 1.5, true, null, [1], {}, -1])(
    "format version %j is no session",
    (v) => {
      expect(parseRecord(changed("idp_state.v", v), NAMES)).toBeUndefined();
    },
  );

  const WRONG: Record<string, readonly unknown[]> = {
    idp_state: [undefined, null, 1, "1", [], [{ v: 1 }], true],
    credentials: [null, "credentials", 1, [], true, {}],
    "credentials.token": [undefined, null, "", 1, {}, ["access"]],
    "credentials.refresh_token": [null, "", 1, {}, ["refresh"], false],
    "credentials.token_uri": [undefined, null, 1, {}],
    "credentials.client_id": [undefined, null, 1, {}],
    "credentials.client_secret": [undefined, null, 1, {}],
    "credentials.scopes": [
      undefined,
      null,
      "openid email",
      {},
      [1],
      [null],
      [["openid"]],
      { length: 1, 0: "openid" },
    ],
    id_info: [null, "claims", 1, [], true],
    oauth_state: [null, 1, {}, [], true],
    final_redirect: [null, 1, {}, [], true],
    "idp_state.logins": [
      null,
      {},
      "x",
      [null],
      [{}],
      ["x"],
      [[]],
      Array.from({ length: MAX_PENDING_LOGINS + 1 }, () => LOGIN),
    ],
    "idp_state.logins.0.state": [undefined, null, "", 1],
    "idp_state.logins.0.nonce": [undefined, null, "", 1],
    "idp_state.logins.0.verifier": [undefined, null, "", 1],
    "idp_state.logins.0.final_redirect": [undefined, null, "", 1],
    "idp_state.logins.0.redirect_uri": [undefined, null, "", 1],
    "idp_state.logins.0.issuer": [undefined, null, "", 1],
    "idp_state.logins.0.carried": [null, false, "true", 1, {}],
    "idp_state.logins.0.silent": [null, false, "true", 1, {}],
    "idp_state.logins.0.cross_site": [null, false, "true", 1, {}],
    "idp_state.logins.0.unattended": [null, false, "true", 1, {}],
    "idp_state.silent_failed_at": [null, "1", true, {}, [1]],
    "idp_state.logins.0.started_at": [undefined, null, "", "1800000000", {}],
    "idp_state.used": [
      null,
      "hash",
      {},
      [1],
      [null],
      Array.from({ length: MAX_USED_STATES + 1 }, () => "hash"),
    ],
    "idp_state.lease": [
      null,
      "holder",
      [],
      {},
      { nonce: "holder" },
      { taken_at: 1 },
      { nonce: "", taken_at: 1 },
      { nonce: 1, taken_at: 1 },
      { nonce: "x", taken_at: "1" },
    ],
    "idp_state.refresh_rejected": [null, false, "true", 1, {}],
    "idp_state.ended": [null, 1, {}, []],
    "idp_state.access_token_expires_at": [null, "1800003600", {}, []],
    "idp_state.tokens_received_at": [null, "1800000000", true, {}, []],
    "idp_state.logins.0.api": [null, "", 1, ["orders"]],
    "idp_state.asked_apis": [null, "orders", {}, [1], [""]],
    "idp_state.userinfo_claims": [null, "email", {}, [1], [null]],
    "idp_state.dropped_token": [null, "", 1, {}, ["dropped"]],
    "idp_state.id_token": [null, "", 1, {}, []],
    "idp_state.sid": [null, "", 1, {}, []],
    "idp_state.signed_in_iat": [null, "1800000000", true, {}, []],
    "idp_state.issuer": [null, 1, {}, []],
    "idp_state.data": [null, 1, "x", true, []],
    "idp_state.claims": [null, 1, "x", true, []],
    "idp_state.claims_version": [null, 1, {}, []],
    "idp_state.review_due": [false, null, 1, "true"],
    "idp_state.rejected": [true, null, 1, "idle", ""],
    "idp_state.logins.0.step_up": [
      null,
      1,
      "x",
      [],
      { max_age: "60" },
      { acr: "gold" },
      { acr: [""] },
      { acr: [1] },
    ],
  };
  it.each(
    Object.entries(WRONG).flatMap(([path, values]) =>
      values.map((value): [string, string, unknown] => [
        path,
        value === undefined ? "missing" : JSON.stringify(value).slice(0, 40),
        value,
      ]),
    ),
  )("%s is %s: no session", (path, _shown, value) => {
    expect(parseRecord(changed(path, value), NAMES)).toBeUndefined();
  });

  it.each([
    ["credentials", undefined],
    ["credentials.refresh_token", undefined],
    ["credentials.token_uri", ""],
    ["credentials.client_secret", ""],
    ["credentials.scopes", []],
    ["id_info", undefined],
    ["id_info", {}],
    ["id_info.exp", "soon"],
    ["id_info.sub", 7],
    ["oauth_state", undefined],
    ["oauth_state", ""],
    ["final_redirect", undefined],
    ["debug", undefined],
    ["debug", null],
    ["idp_state.logins", undefined],
    ["idp_state.logins", []],
    ["idp_state.used", undefined],
    ["idp_state.lease", undefined],
    ["idp_state.refresh_rejected", undefined],
    ["idp_state.ended", undefined],
    ["idp_state.access_token_expires_at", undefined],
    ["idp_state.issuer", undefined],
    ["idp_state.unknown_to_this_version", { x: 1 }],
    ["idp_state.tokens_received_at", undefined],
    ["idp_state.userinfo_claims", undefined],
    ["idp_state.userinfo_claims", []],
    ["idp_state.dropped_token", undefined],
    ["idp_state.id_token", undefined],
    ["idp_state.sid", undefined],
    ["idp_state.signed_in_iat", undefined],
    ["idp_state.session_expiry", "soon"],
    ["idp_state.rejected", undefined],
    ["idp_state.rejected", "claims_rejected"],
    ["idp_state.logins.0.carried", true],
    ["idp_state.logins.0.step_up", undefined],
    ["idp_state.logins.0.step_up", { max_age: 0 }],
    ["idp_state.logins.0.step_up", { acr: ["gold", "silver"] }],
  ])("%s is %j: still a session, taken as it is", (path, value) => {
    const stored = changed(path, value);
    expect(parseRecord(stored, NAMES)).toEqual(stored);
  });

  it.each([0, -1, 1.5, 1e300, "1800000000", "", true, false, null, [], {}, [1]] as unknown[])(
    "a stamp of %j is kept as it is, for the gate to judge",
    (stamp) => {
      expect(parseRecord(changed("idp_login_at", stamp), NAMES)?.idp_login_at).toEqual(stamp);
      expect(parseRecord(changed("idp_last_active", stamp), NAMES)?.idp_last_active).toEqual(stamp);
    },
  );

  it("another API's entry drops what has expired, but no refusal of the last minute", () => {
    const record = parseRecord(full(), NAMES)!;
    const refused = {
      target: "[]",
      at: 1_800_003_590,
      token: "old",
      expires_at: 1_800_003_600,
      refused: "invalid_scope",
    };
    const before = {
      ...record,
      idp_state: { ...record.idp_state, apis: { ...record.idp_state.apis, graph: refused } },
    };
    const names = (now: number) =>
      Object.keys(
        withApiEntry(before, { api: "new", entry: { target: "[]", at: now, token: "t" }, now })
          .idp_state.apis ?? {},
      );
    expect(names(1_800_003_649)).toEqual(["graph", "new"]);
    expect(names(1_800_003_650)).toEqual(["new"]);
  });

  it("the names decide: what is stored under another name is not seen", () => {
    const record = parseRecord(full(), OTHER_NAMES);
    expect(record).toBeDefined();
    expect([record?.credentials, record?.oauth_state, record?.final_redirect]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("keys that belong to nobody are left behind", () => {
    const record = parseRecord({ ...full(), cart: [1], admin: true, passport: { user: 1 } }, NAMES);
    expect(record).toEqual(full());
  });

  it.each([
    "__proto__",
    "constructor",
    "prototype",
    "toString",
    "hasOwnProperty",
    "valueOf",
    "__defineGetter__",
  ])("a key called %s pollutes nothing and supplies nothing", (key) => {
    const poison = JSON.stringify({
      v: 1,
      polluted: true,
      token: "x",
      credentials: CREDENTIALS,
      idp_state: { v: 1 },
    });
    const text = `{"${key}":${poison},"idp_state":{"v":1,"${key}":${poison}},"id_info":{"${key}":${poison}}}`;
    const record = parseRecord(JSON.parse(text), NAMES);
    expect(record?.credentials).toBeUndefined();
    expect(Object.getPrototypeOf(record)).toBeNull();
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    expect(userPayload(record?.id_info)).toEqual({ email: null, name: null, picture: null });
    expect(parseRecord(JSON.parse(`{"${key}":${poison}}`), NAMES)).toBeUndefined();
  });

  it("deep nesting and great length neither throw nor recurse", () => {
    let deep: unknown = 1;
    for (let level = 0; level < 50_000; level += 1) deep = [deep];
    expect(parseRecord({ ...full(), debug: deep }, NAMES)?.debug).toBe(deep);
    expect(parseRecord({ ...full(), credentials: deep }, NAMES)).toBeUndefined();
    expect(
      parseRecord(changed("oauth_state", "x".repeat(10_000_000)), NAMES)?.oauth_state,
    ).toHaveLength(10_000_000);
  });
});

/** Any JSON in the places where a record has something, and often something nearly right. */
const hostileRecord = fc
  .record(
    Object.fromEntries(
      [...Object.values(NAMES), ...FIXED_KEYS, "__proto__", "constructor"].map((key) => [
        key,
        fc.oneof(
          { weight: 2, arbitrary: fc.constant(full()[key] as fc.JsonValue) },
          { weight: 1, arbitrary: fc.jsonValue() },
        ),
      ]),
    ),
    { requiredKeys: [] },
  )
  .chain((record) =>
    fc.oneof(
      { weight: 8, arbitrary: fc.constant(record as unknown) },
      { weight: 1, arbitrary: fc.jsonValue() },
    ),
  );

/** The settings refuse what every object inherits, and the fixed keys. */
const keyName = fc
  .string({ minLength: 1, maxLength: 20, unit: "grapheme" })
  .filter((name) => !(name in {}) && !(FIXED_KEYS as readonly string[]).includes(name));
const keyNames: fc.Arbitrary<KeyNames> = fc
  .uniqueArray(keyName, { minLength: 3, maxLength: 3 })
  .map(([credentials = "", oauth_state = "", final_redirect = ""]) => ({
    credentials,
    oauth_state,
    final_redirect,
  }));

const text = fc.string({ minLength: 1, maxLength: 12 });
const claims = fc
  .dictionary(
    fc.oneof(fc.constantFrom("email", "name", "picture", "sub", "exp"), text),
    fc.jsonValue() as fc.Arbitrary<unknown>,
  )
  .map((value) => JSON.parse(JSON.stringify(value)) as Record<string, unknown>);
const login = fc.record({
  state: text,
  nonce: text,
  verifier: text,
  final_redirect: text,
  redirect_uri: text,
  issuer: text,
  started_at: fc.integer(),
});
const soundRecord = fc.record(
  {
    credentials: fc.record(
      {
        token: text,
        refresh_token: text,
        token_uri: fc.string(),
        client_id: fc.string(),
        client_secret: fc.string(),
        scopes: fc.array(fc.string(), { maxLength: 4 }),
      },
      { requiredKeys: ["token", "token_uri", "client_id", "client_secret", "scopes"] },
    ),
    id_info: claims,
    oauth_state: fc.string(),
    final_redirect: fc.string(),
    debug: fc.constantFrom({ accepted: true }, "text", 0),
    idp_login_at: fc.integer(),
    idp_last_active: fc.integer(),
    idp_state: fc.record(
      {
        v: fc.constant(1 as const),
        logins: fc.array(login, { maxLength: MAX_PENDING_LOGINS }),
        used: fc.array(text, { maxLength: MAX_USED_STATES }),
        lease: fc.record({ nonce: text, taken_at: fc.integer() }),
        refresh_rejected: fc.constant(true as const),
        ended: text,
        access_token_expires_at: fc.integer(),
        issuer: text,
      },
      { requiredKeys: ["v"] },
    ),
  },
  { requiredKeys: ["idp_state"] },
) as fc.Arbitrary<SessionRecord>;

describe("the stored form", () => {
  it("reading any stored value never throws, and what is read can be stored and read again", () => {
    fc.assert(
      fc.property(hostileRecord, (stored) => {
        const record = parseRecord(JSON.parse(JSON.stringify(stored)), NAMES);
        if (record === undefined) return;
        expect(parseRecord(JSON.parse(JSON.stringify(storedForm(record, NAMES))), NAMES)).toEqual(
          record,
        );
      }),
      { numRuns: 1_000 },
    );
  });

  it("every record survives storing as JSON and reading, under any three names", () => {
    fc.assert(
      fc.property(soundRecord, keyNames, (record, names) => {
        const stored = JSON.parse(JSON.stringify(storedForm(record, names))) as unknown;
        expect(parseRecord(stored, names)).toEqual(record);
      }),
      { numRuns: 500 },
    );
  });

  it("has the specification's keys, the private one, and nothing undefined", () => {
    const record = parseRecord(full(), NAMES)!;
    expect(Object.keys(storedForm(record, NAMES)).sort()).toEqual(
      [...Object.values(NAMES), ...FIXED_KEYS].sort(),
    );
    expect(Object.keys(storedForm(EMPTY_RECORD, NAMES))).toEqual(["idp_state"]);
    expect(Object.keys(storedForm(record, OTHER_NAMES))).toEqual(
      expect.arrayContaining(Object.values(OTHER_NAMES)),
    );
  });

  it("of the fixed keys stays under the same names from release to release", () => {
    expect([...FIXED_KEYS]).toEqual([
      "id_info",
      "debug",
      "idp_login_at",
      "idp_last_active",
      "idp_state",
    ]);
  });

  it("the specified keys are those without the private one", () => {
    const record = parseRecord(full(), NAMES)!;
    const { idp_state: _private, ...specified } = full();
    expect(specifiedKeys(record, NAMES)).toEqual(specified);
    expect(specifiedKeys(EMPTY_RECORD, NAMES)).toEqual({});
  });
});

const PROVIDER_CREDENTIALS: ProviderCredentials = {
  token: "access",
  refreshToken: "refresh",
  tokenUri: "https://idp.example/token",
  clientId: "client",
  clientSecret: "secret",
  scopes: ["openid", "email"],
};

describe("credentialsToDict", () => {
  it("gives the six fields under the specification's names", () => {
    expect(credentialsToDict(PROVIDER_CREDENTIALS)).toEqual(CREDENTIALS);
  });

  it.each([undefined, null, ""])("a refresh token of %j leaves the key out", (refreshToken) => {
    expect(
      Object.keys(credentialsToDict({ ...PROVIDER_CREDENTIALS, refreshToken })).sort(),
    ).toEqual(["client_id", "client_secret", "scopes", "token", "token_uri"]);
  });

  it("takes nothing else along", () => {
    const more = { ...PROVIDER_CREDENTIALS, idToken: "id", expiry: 1 };
    expect(Object.keys(credentialsToDict(more))).toHaveLength(6);
  });

  it("the scopes are a copy: changing the result changes nothing else", () => {
    const scopes = ["openid"];
    const dict = credentialsToDict({ ...PROVIDER_CREDENTIALS, scopes });
    (dict.scopes as string[]).push("more");
    expect(scopes).toEqual(["openid"]);
  });
});

describe("frozenCredentials", () => {
  it("returns a copy that can't be changed, with an ordinary prototype", () => {
    const stored = { ...CREDENTIALS, scopes: ["openid", "email"] };
    const copy = frozenCredentials(stored);
    expect(copy).toEqual(CREDENTIALS);
    expect([Object.isFrozen(copy), Object.isFrozen(copy.scopes)]).toEqual([true, true]);
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
    expect([Object.isFrozen(stored), Object.isFrozen(stored.scopes)]).toEqual([false, false]);
  });
});

describe("withoutIdToken", () => {
  it("removes the ID token and keeps everything else", () => {
    const record = parseRecord(full(), NAMES)!;
    const { id_token: idToken, ...state } = record.idp_state;
    expect(idToken).toBeDefined();
    expect(withoutIdToken(record)).toEqual({ ...record, idp_state: state });
    expect(withoutIdToken(record).idp_state).not.toHaveProperty("id_token");
  });

  it("returns the same record if it contains no ID token", () => {
    const record = withoutIdToken(parseRecord(full(), NAMES)!);
    expect(withoutIdToken(record)).toBe(record);
    expect(withoutIdToken(EMPTY_RECORD)).toBe(EMPTY_RECORD);
  });
});

describe("withoutInherited", () => {
  it("leaves the APIs and each of their entries no prototype", () => {
    const apis = { orders: { target: "t", at: 5 } };
    const { apis: read } = withoutInherited<SessionRecord>({ idp_state: { v: 1, apis } }).idp_state;
    expect(read).toEqual(apis);
    expect(Object.getPrototypeOf(read)).toBeNull();
    expect(Object.getPrototypeOf(read?.["orders"])).toBeNull();
  });

  it.each([undefined, null, "orders", 7])("leaves APIs that are %j as they are", (apis) => {
    expect(withoutInherited({ idp_state: { v: 1, apis } }).idp_state).toEqual({ v: 1, apis });
  });

  it("returns every object of a record without a prototype", () => {
    const record = withoutInherited(JSON.parse(JSON.stringify(full())) as SessionRecord);
    const { idp_state: state } = record;
    const parts = [
      record,
      record.credentials,
      record.id_info,
      record.debug,
      state,
      state.lease,
      state.logins?.[0],
    ];
    expect(parts.map((part) => Object.getPrototypeOf(part) as unknown)).toEqual(
      parts.map(() => null),
    );
    expect(record).toEqual(full());
  });

  it("always has the record's eight keys, and adds none to the private state", () => {
    const record = withoutInherited({ idp_state: { v: 1 } });
    expect(Object.keys(record).sort()).toEqual([...Object.values(NAMES), ...FIXED_KEYS].sort());
    expect(Object.entries(record.idp_state)).toEqual([["v", 1]]);
  });

  it("returns a claim with the name of a private key as the provider sent it", () => {
    const claims = { sub: "ada", logins: [{ at: "desk" }], lease: { months: 12 } };
    const { id_info: read } = withoutInherited({
      id_info: claims,
      idp_state: { v: 1 },
    }) as SessionRecord;
    expect([read?.["logins"], read?.["lease"]]).toStrictEqual([[{ at: "desk" }], { months: 12 }]);
  });

  it.each([[null], ["text"], [7], [[{ v: 1 }]], [undefined]])(
    "leaves a private state of %j for the checks to refuse",
    (state) => {
      expect(withoutInherited({ idp_state: state }).idp_state).toBe(state);
    },
  );

  it.each([[null], ["text"], [7], [{ 0: LOGIN, length: 1 }]])(
    "leaves logins of %j for the checks to refuse",
    (logins) => {
      expect(withoutInherited({ idp_state: { v: 1, logins } }).idp_state).toEqual({ v: 1, logins });
      expect(parseRecord({ idp_state: { v: 1, logins } }, NAMES)).toBeUndefined();
    },
  );
});

describe("whose a record is", () => {
  const client = { issuer: "https://idp.example", clientId: "client" };
  const { issuer: _issuer, ...anonymous } = {
    ...(full()["idp_state"] as SessionRecord["idp_state"]),
  };
  it.each<[string, SessionRecord, boolean]>([
    ["this client's at this issuer", full() as unknown as SessionRecord, true],
    ["one that does not say its issuer", { credentials: CREDENTIALS, idp_state: anonymous }, true],
    [
      "another issuer's",
      { credentials: CREDENTIALS, idp_state: { v: 1, issuer: "https://idp.example/" } },
      false,
    ],
    [
      "another client's",
      {
        credentials: { ...CREDENTIALS, client_id: "other" },
        idp_state: { v: 1, issuer: client.issuer },
      },
      false,
    ],
    [
      "another client's, without an issuer",
      { credentials: { ...CREDENTIALS, client_id: "" }, idp_state: { v: 1 } },
      false,
    ],
    [
      "nobody's yet, whatever issuer it names",
      { idp_state: { v: 1, issuer: "https://other.example" } },
      true,
    ],
  ])("%s", (_name, record, expected) => {
    expect(isOfClients(record, { clients: [client] })).toBe(expected);
  });
});

describe("the user payload", () => {
  it.each([
    [undefined, { email: null, name: null, picture: null }],
    [{}, { email: null, name: null, picture: null }],
    [{ email: "a@example.com" }, { email: "a@example.com", name: null, picture: null }],
    [
      { email: "", name: "", picture: "" },
      { email: "", name: "", picture: "" },
    ],
    [
      { email: 1, name: ["Ada"], picture: { href: "x" } },
      { email: null, name: null, picture: null },
    ],
    [
      { email: null, name: true, picture: undefined },
      { email: null, name: null, picture: null },
    ],
    [{ name: "<script>" }, { email: null, name: "<script>", picture: null }],
  ])("of %j is %j", (idInfo, payload) => {
    expect(userPayload(idInfo)).toEqual(payload);
  });

  it("has exactly email, name and picture: iss, azp, aud, sub and everything else are stripped", () => {
    const idInfo = {
      iss: "i",
      azp: "z",
      aud: "a",
      sub: "s",
      exp: 1,
      email_verified: true,
      nonce: "n",
      at_hash: "h",
      email: "e",
      name: "n",
      picture: "p",
      toString: "x",
    };
    expect(Object.keys(userPayload(idInfo))).toEqual(["email", "name", "picture"]);
  });
});

describe("the user of a session, for the server", () => {
  const ADA = { iss: "https://idp.example", sub: "ada" };

  it.each([
    [{}, { id: "ada", email: null, name: null, picture: null, email_verified: null }],
    [
      {
        email: "ada@example.com",
        name: "Ada",
        picture: "https://idp.example/ada.png",
        email_verified: true,
      },
      {
        id: "ada",
        email: "ada@example.com",
        name: "Ada",
        picture: "https://idp.example/ada.png",
        email_verified: true,
      },
    ],
    [
      { email_verified: false },
      { id: "ada", email: null, name: null, picture: null, email_verified: false },
    ],
    [
      { email_verified: "true" },
      { id: "ada", email: null, name: null, picture: null, email_verified: true },
    ],
    [
      { email_verified: "false" },
      { id: "ada", email: null, name: null, picture: null, email_verified: false },
    ],
    [
      { email_verified: "yes" },
      { id: "ada", email: null, name: null, picture: null, email_verified: null },
    ],
    [
      { email_verified: 1 },
      { id: "ada", email: null, name: null, picture: null, email_verified: null },
    ],
  ])("with claims %j is %j", (more, user) => {
    expect(sessionUser({ ...ADA, ...more })).toEqual(user);
  });

  it("is known only if issuer and subject are strings and not empty", () => {
    expect(hasSubject(ADA)).toBe(true);
    for (const claims of [
      undefined,
      {},
      { iss: ADA.iss },
      { sub: ADA.sub },
      { ...ADA, iss: "" },
      { ...ADA, sub: "" },
      { ...ADA, sub: 7 },
    ])
      expect(hasSubject(claims), JSON.stringify(claims)).toBe(false);
    expect(hasSubject({ ...ADA, iss: ["https://idp.example"] })).toBe(false);
  });

  it("is the same user if issuer and subject are the same", () => {
    expect(isSameUser({ idInfo: ADA }, { idInfo: { ...ADA, name: "Ada" } })).toBe(true);
    expect(isSameUser({ idInfo: ADA }, { idInfo: { ...ADA, sub: "eve" } })).toBe(false);
    expect(isSameUser({ idInfo: ADA }, { idInfo: { ...ADA, iss: "https://other.example" } })).toBe(
      false,
    );
    expect([
      isSameUser({ idInfo: ADA }, {}),
      isSameUser({}, { idInfo: ADA }),
      isSameUser({}, {}),
    ]).toEqual([false, false, false]);
    expect(isSameUser({ idInfo: {} }, { idInfo: {} })).toBe(false);
  });

  it("gets the output of the application's schema, which can't change issuer or subject", () => {
    const claims = { ...ADA, groups: ["a"], name: "Ada" };
    expect(
      claimsWithOutput(claims, { groups: ["admin"], iss: "https://evil.example", sub: "eve" }),
    ).toEqual({
      ...ADA,
      groups: ["admin"],
      name: "Ada",
    });
    expect(claimsWithOutput(claims, undefined)).toEqual(claims);
  });
});

describe("hasEpochTimePassed", () => {
  const NOW = 1_800_000_000;
  it.each([
    [NOW - 1, true],
    [NOW, true],
    [NOW + 1, false],
    [NOW + 0.001, false],
    [0, true],
    [-1, true],
    [Number.NaN, true],
    [Number.POSITIVE_INFINITY, true],
    [Number.NEGATIVE_INFINITY, true],
    [Number.MAX_VALUE, false],
    [String(NOW + 60) as unknown as number, true],
    [null as unknown as number, true],
    [undefined as unknown as number, true],
    [{} as unknown as number, true],
    [[NOW + 60] as unknown as number, true],
  ])("target %s: %s", (target, hasPassed) => {
    expect(hasEpochTimePassed(target, NOW)).toBe(hasPassed);
  });

  it("without a now, it reads the system clock", () => {
    const now = Math.floor(Date.now() / 1000);
    expect([hasEpochTimePassed(now - 10), hasEpochTimePassed(now + 1000)]).toEqual([true, false]);
  });
});

describe("helpers without side effects have none", () => {
  const record = () => parseRecord(full(), NAMES)!;
  it.each([
    [
      "credentialsToDict",
      () => structuredClone(PROVIDER_CREDENTIALS),
      (input: unknown) => credentialsToDict(input as ProviderCredentials),
    ],
    [
      "userPayload",
      () => structuredClone(full()["id_info"]),
      (input: unknown) => userPayload(input as Record<string, unknown>),
    ],
    [
      "hasEpochTimePassed",
      () => ({ target: 5, now: 6 }),
      (input: unknown) =>
        hasEpochTimePassed((input as { target: number }).target, (input as { now: number }).now),
    ],
    ["storedForm", record, (input: unknown) => storedForm(input as SessionRecord, OTHER_NAMES)],
    ["specifiedKeys", record, (input: unknown) => specifiedKeys(input as SessionRecord, NAMES)],
    ["parseRecord", full, (input: unknown) => parseRecord(input, NAMES)],
  ])(
    "%s: a frozen input is left as it was, and the result is the same twice",
    (_name, make, run) => {
      const input: unknown = deepFreeze<unknown>(make());
      const before = JSON.stringify(input);
      const [first, second] = [run(input), run(input)];
      expect(second).toEqual(first);
      expect(JSON.stringify(input)).toBe(before);
    },
  );
});

describe("the empty record", () => {
  it("is shared, so it can't be changed", () => {
    expect(Object.isFrozen(EMPTY_RECORD) && Object.isFrozen(EMPTY_RECORD.idp_state)).toBe(true);
  });
});
