// Keys and nonces in stored records: those from before, hostile ones, and what an inherited member
// can change.
import { describe, expect, it } from "vitest";
import { withoutUndefined } from "../../src/record/without-undefined.js";
import { withDpop, withRefreshToken, withTokens } from "../../src/record/refresh-changes.js";
import type { SessionRecord } from "../../src/record/record.js";
import { parseRecord, storedForm } from "../../src/record/stored-form.js";
import { polluted } from "../support/polluted.js";

const NAMES = {
  credentials: "credentials",
  oauth_state: "oauth_state",
  final_redirect: "final_redirect",
};
const COORDINATE = "A".repeat(43);
const KEY = { x: COORDINATE, y: COORDINATE, d: COORDINATE };
const LOGIN = {
  state: "state",
  nonce: "nonce",
  verifier: "verifier",
  final_redirect: "https://app.example/",
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
  scopes: ["openid"],
};

/** As an earlier release stored it. */
const BEFORE =
  '{"credentials":{"token":"access","refresh_token":"refresh","token_uri":"https://idp.example/token","client_id":"client","client_secret":"secret","scopes":["openid"]},"oauth_state":"state","final_redirect":"https://app.example/","id_info":{"iss":"https://idp.example","sub":"ada","exp":1800003600},"idp_login_at":1800000000,"idp_state":{"v":1,"issuer":"https://idp.example","tokens_received_at":1800000000,"access_token_expires_at":1800003600,"id_token":"e30.e30.e30","logins":[{"state":"state","nonce":"nonce","verifier":"verifier","final_redirect":"https://app.example/","redirect_uri":"https://app.example/idpauth/login-callback","issuer":"https://idp.example","started_at":1800000000}],"apis":{"orders":{"target":"t","at":1800000000,"token":"orders","expires_at":1800003600}}}}';

function read(text: string): SessionRecord | undefined {
  return parseRecord(JSON.parse(text), NAMES);
}

function written(record: SessionRecord): string {
  return JSON.stringify(storedForm(record, NAMES));
}

/** A record with these members of the private state and of the credentials, through JSON. */
function record(state: object, credentials: object = {}): SessionRecord | undefined {
  return read(
    JSON.stringify({
      credentials: { ...CREDENTIALS, ...credentials },
      id_info: { iss: "https://idp.example", sub: "ada" },
      idp_state: { v: 1, ...state },
    }),
  );
}

describe("a bound token without a key", () => {
  it("makes its record unreadable, since it would be sent as a bearer token", () => {
    const bound = { token_type: "DPoP" };
    const entry = { target: "t", at: 1_800_000_000, token: "orders", ...bound };
    expect(record({}, bound)).toBeUndefined();
    expect(record({ apis: { orders: entry } })).toBeUndefined();
    expect(record({ apis: { orders: entry }, dpop: { key: KEY } }, bound)).toBeDefined();
  });
});

describe("a record from before", () => {
  it("is written as it was", () => {
    expect(written(read(BEFORE)!)).toBe(BEFORE);
  });

  it("gets no member from a refresh without a proof", () => {
    const before = read(BEFORE)!;
    const spent = {
      accessToken: "access",
      tokenType: undefined,
      refreshToken: "refresh",
      idToken: "e30.e30.e30",
      scopes: ["openid"],
      receivedAt: 1_800_000_000,
      accessTokenExpiresAt: 1_800_003_600,
      dpop: undefined,
    };
    const verified = { idInfo: before.id_info!, userinfoClaims: [] };
    const rotated = withRefreshToken(before, { refreshToken: "refresh", dpop: undefined });
    expect(written(rotated)).toBe(BEFORE);
    const after = written(withTokens(rotated, { spent, verified }));
    expect(Object.keys(JSON.parse(after) as object)).toEqual(
      Object.keys(JSON.parse(BEFORE) as object),
    );
    expect(after).not.toMatch(/dpop|token_type/i);
    expect(after.length).toBe(BEFORE.length);
  });
});

describe("a key", () => {
  it("stays as it was stored, with its nonce", () => {
    const dpop = { key: KEY, nonce: "nonce" };
    const found = record({ dpop, logins: [{ ...LOGIN, dpop_key: KEY }] }, { token_type: "DPoP" });
    expect(found?.idp_state.dpop).toEqual(dpop);
    expect(found?.idp_state.logins?.[0]?.dpop_key).toEqual(KEY);
    expect(read(written(found!))).toEqual(found);
  });

  it("isn't replaced by a refresh without a proof", () => {
    const found = record({ dpop: { key: KEY } })!;
    expect(withDpop(found, undefined)).toBe(found);
  });
});

const BAD_KEYS: readonly [string, unknown][] = [
  ["null", null],
  ["text", COORDINATE],
  ["a list", [KEY]],
  ["an empty object", {}],
  ...(["x", "y", "d"] as const).flatMap((name): [string, unknown][] => [
    [`no ${name}`, { ...KEY, [name]: undefined }],
    [`a number as ${name}`, { ...KEY, [name]: 1 }],
    [`a short ${name}`, { ...KEY, [name]: COORDINATE.slice(1) }],
    [`a long ${name}`, { ...KEY, [name]: `${COORDINATE}A` }],
    [`another alphabet in ${name}`, { ...KEY, [name]: `+${COORDINATE.slice(1)}` }],
    [`a line break after ${name}`, { ...KEY, [name]: `${COORDINATE}\n` }],
  ]),
];

describe("a record is no session", () => {
  it.each(BAD_KEYS)("whose key is %s", (_, key) => {
    expect(record({ dpop: { key } })).toBeUndefined();
    expect(record({ logins: [withoutUndefined({ ...LOGIN, dpop_key: key })] })).toBeUndefined();
  });

  it.each([
    ["null", null],
    ["a list", []],
    ["true", true],
    ["without a key", { nonce: "nonce" }],
  ])("whose binding is %s", (_, dpop) => {
    expect(record({ dpop })).toBeUndefined();
  });

  it.each([
    ["null", null],
    ["a number", 1],
    ["empty", ""],
    ["with a space", "a b"],
    ["with a quotation mark", 'a"b'],
    ["with a line break", "a\r\nX-Evil: 1"],
    ["with a letter beyond ASCII", "ä"],
    ["longer than 512 characters", "a".repeat(513)],
  ])("whose nonce is %s", (_, nonce) => {
    expect(record({ dpop: { key: KEY, nonce } })).toBeUndefined();
  });

  it.each(["dpop", "Bearer", "", null, true])("whose token has the type %j", (type) => {
    expect(record({ dpop: { key: KEY } }, { token_type: type })).toBeUndefined();
    const entry = { target: "t", at: 1, token: "token", token_type: type };
    expect(record({ dpop: { key: KEY }, apis: { orders: entry } })).toBeUndefined();
  });
});

describe("a stored __proto__", () => {
  const evil = `"__proto__":{"nonce":"evil","dpop":{"key":${JSON.stringify(KEY)}},"token_type":"DPoP"}`;
  const key = JSON.stringify(KEY);

  it.each([
    ["of the state", `{"idp_state":{"v":1,${evil}}}`, undefined],
    ["of the binding", `{"idp_state":{"v":1,"dpop":{"key":${key},${evil}}}}`, KEY],
    ["of the key", `{"idp_state":{"v":1,"dpop":{"key":{${key.slice(1, -1)},${evil}}}}}`, KEY],
  ])("%s gives nothing", (_, text, expected) => {
    const state = read(text)?.idp_state;
    expect(state).toBeDefined();
    expect(state?.dpop?.nonce).toBeUndefined();
    const { x, y, d } = state?.dpop?.key ?? {};
    expect(withoutUndefined({ x, y, d })).toEqual(expected ?? {});
    expect(({} as { nonce?: unknown }).nonce).toBeUndefined();
  });

  it("of a login or of the credentials gives no key and no type", () => {
    const login = JSON.stringify(LOGIN).replace("{", `{"__proto__":{"dpop_key":${key}},`);
    const credentials = JSON.stringify(CREDENTIALS).replace("{", `{${evil},`);
    const found = read(`{"credentials":${credentials},"idp_state":{"v":1,"logins":[${login}]}}`);
    expect(found?.idp_state.logins?.[0]?.dpop_key).toBeUndefined();
    expect(found?.credentials?.token_type).toBeUndefined();
  });
});

describe("a polluted Object.prototype", () => {
  it("gives a record no key, no nonce and no type", async () => {
    const keys = { dpop: { key: KEY }, dpop_key: KEY, nonce: "evil", token_type: "DPoP" };
    const seen = await polluted(keys, () => {
      const without = record({ logins: [LOGIN], apis: { orders: { target: "t", at: 1 } } })!;
      const bound = record({ dpop: { key: KEY } })!;
      return [
        without.idp_state.dpop,
        without.idp_state.logins?.[0]?.dpop_key,
        without.idp_state.apis?.["orders"]?.token_type,
        without.credentials?.token_type,
        bound.idp_state.dpop?.nonce,
      ];
    });
    expect(seen).toEqual([undefined, undefined, undefined, undefined, undefined]);
  });
});
