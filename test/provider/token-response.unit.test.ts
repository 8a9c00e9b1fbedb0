import { describe, expect, it } from "vitest";
import type { ProviderResponse } from "../../src/provider/http-to-provider.js";
import { asksToTryLater, meaningOf, type Meaning } from "../../src/provider/response-meaning.js";
import { lifetime, tokensOf } from "../../src/provider/token-response.js";

const HTML = "text/html; charset=utf-8";
const response = (status: number, body: unknown, type = "application/json") => ({
  status,
  headers: new Headers({ "content-type": type }),
  text: typeof body === "string" ? body : JSON.stringify(body),
});

describe("[F5] what a response of the token endpoint means", () => {
  // What both requests share; then the meaning for a code exchange, and for a refresh.
  const ROWS: [string, ProviderResponse, string, string?][] = [
    ["200 with an access token", response(200, { access_token: "a" }), "ok"],
    ["200 with an ID token alone", response(200, { id_token: "a" }), "ok"],
    ["200 with a refresh token alone", response(200, { refresh_token: "a" }), "ok"],
    ["200 with tokens of no declared type", response(200, { access_token: "a" }, ""), "ok"],
    ["200 with tokens in a web page's type", response(200, { access_token: "a" }, HTML), "ok"],
    ["200 with tokens and an empty error", response(200, { access_token: "a", error: "" }), "ok"],
    // Whatever the status: a 503 by another name.
    ...[200, 400, 401, 403, 429, 500, 503].flatMap((status) =>
      ["temporarily_unavailable", "server_error", "slow_down"].map(
        (error): [string, ProviderResponse, string] => [
          `${String(status)} ${error}`,
          response(status, { error }),
          `outage ${error}`,
        ],
      ),
    ),
    ...[200, 400, 401, 403, 404, 408, 422, 429].map(
      (status): [string, ProviderResponse, string] => [
        `${String(status)} invalid_grant`,
        response(status, { error: "invalid_grant" }),
        "refused invalid_grant",
      ],
    ),
    ...[200, 400, 403].flatMap((status) =>
      [
        "login_required",
        "interaction_required",
        "consent_required",
        "mfa_required",
        "access_denied",
      ].map((error): [string, ProviderResponse, string] => [
        `${String(status)} ${error}`,
        response(status, { error }),
        `refused ${error}`,
      ]),
    ),
    [
      "401 access_denied, as Auth0 says of a wrong secret",
      response(401, { error: "access_denied" }),
      "operator access_denied",
    ],
    ...[200, 400].map((status): [string, ProviderResponse, string, string] => [
      `${String(status)} with an error of the provider's own`,
      response(status, { error: "bad_client_secret" }),
      "refused bad_client_secret",
      "ambiguous bad_client_secret",
    ]),
    ...[200, 400, 401, 403].map((status): [string, ProviderResponse, string] => [
      `${String(status)} invalid_client`,
      response(status, { error: "invalid_client" }),
      "operator invalid_client",
    ]),
    ...[200, 400, 401, 403].flatMap((status) =>
      ["unauthorized_client", "unsupported_grant_type", "invalid_scope", "invalid_target"].map(
        (error): [string, ProviderResponse, string, string] => [
          `${String(status)} ${error}`,
          response(status, { error }),
          `${status === 401 || error === "unauthorized_client" ? "operator" : "refused"} ${error}`,
          `operator ${error}`,
        ],
      ),
    ),
    [
      "403 with an unknown error",
      response(403, { error: "blocked_by_policy" }),
      "refused blocked_by_policy",
      "operator blocked_by_policy",
    ],
    // Some providers say so of a dead refresh token, others of a wrong secret or an overload.
    ...(
      [
        ["without a body", ""],
        ["with a web page", "<html>"],
        ["with a message", { message: "Bad Request" }],
        ["with Spring's words", { error: "Bad Request" }],
        ["with an empty error", { error: "" }],
        ["with an error that is no code", { error: "<script>\r\nX" }],
        ["with an error that is no string", { error: ["invalid_client"] }],
        ["with an endless error", { error: "a".repeat(65) }],
      ] as const
    ).map(([name, body]): [string, ProviderResponse, string, string] => [
      `400 ${name}`,
      response(400, body),
      "refused http_400",
      "ambiguous http_400",
    ]),
    ...[200, 400].map((status): [string, ProviderResponse, string, string] => [
      `${String(status)} invalid_request`,
      response(status, { error: "invalid_request" }),
      "refused invalid_request",
      "ambiguous invalid_request",
    ]),
    ["401", response(401, ""), "operator http_401"],
    ["403", response(403, ""), "operator http_403"],
    ...[404, 405, 410, 418, 422, 451].map((status): [string, ProviderResponse, string, string] => [
      String(status),
      response(status, ""),
      `refused http_${String(status)}`,
      `operator http_${String(status)}`,
    ]),
    ...[500, 502, 503, 504, 599, 201, 202, 204].map(
      (status): [string, ProviderResponse, string] => [
        String(status),
        response(status, { error: "invalid_grant" }),
        `outage http_${String(status)}`,
      ],
    ),
    ...[408, 429].map((status): [string, ProviderResponse, string] => [
      String(status),
      response(status, {}),
      `outage http_${String(status)}`,
    ]),
    ...[300, 301, 302, 303, 304, 307, 308].map((status): [string, ProviderResponse, string] => [
      String(status),
      response(status, ""),
      "outage redirect",
    ]),
    ...["", "{", "null", "1", "[]", '"x"', "true", "<html></html>", "{}{}", "access_token=a"].map(
      (body): [string, ProviderResponse, string] => [
        `200 with the body ${JSON.stringify(body)}`,
        response(200, body),
        "outage not_json",
      ],
    ),
    ...(
      [
        {},
        { status: "maintenance" },
        { error: "Service Unavailable" },
        { error: "" },
        { access_token: "", id_token: "", refresh_token: "" },
        { access_token: 7 },
      ] as const
    ).map((body): [string, ProviderResponse, string] => [
      `200 with ${JSON.stringify(body)}`,
      response(200, body),
      "outage no_tokens",
    ]),
  ];
  const inWords = (meaning: Meaning) =>
    [meaning.kind, ...("reason" in meaning ? [meaning.reason] : [])].join(" ");
  it.each(ROWS)("%s", (_name, given, exchange, refresh = exchange) => {
    expect([inWords(meaningOf(given, "exchange")), inWords(meaningOf(given, "refresh"))]).toEqual([
      exchange,
      refresh,
    ]);
  });
});

describe("what a response to a refresh for an API means", () => {
  it.each<[number, unknown, Meaning]>([
    [400, { error: "invalid_target" }, { kind: "refused", reason: "invalid_target" }],
    [403, { error: "mfa_required" }, { kind: "refused", reason: "mfa_required" }],
    [403, { error: "unauthorized_client" }, { kind: "refused", reason: "unauthorized_client" }],
    [400, { error: "invalid_grant" }, { kind: "refused", reason: "invalid_grant" }],
    [
      400,
      { error: "invalid_grant", suberror: "bad_token" },
      { kind: "refused", reason: "bad_token" },
    ],
    [
      400,
      { error: "consent_required", suberror: "bad_token" },
      { kind: "refused", reason: "consent_required" },
    ],
    [401, { error: "invalid_client" }, { kind: "operator", reason: "invalid_client" }],
    [403, "", { kind: "operator", reason: "http_403" }],
    [400, { error: "invalid_request" }, { kind: "ambiguous", reason: "invalid_request" }],
    [400, "", { kind: "ambiguous", reason: "http_400" }],
    [400, { error: "own_word" }, { kind: "ambiguous", reason: "own_word" }],
    [200, { error: "own_word" }, { kind: "ambiguous", reason: "own_word" }],
    [403, { error: "own_word" }, { kind: "operator", reason: "own_word" }],
    [400, { error: "slow_down" }, { kind: "outage", reason: "slow_down" }],
    [429, { error: "interaction_required" }, { kind: "outage", reason: "http_429" }],
    [503, { error: "consent_required" }, { kind: "outage", reason: "http_503" }],
  ])("%i %j", (status, body, expected) => {
    expect(meaningOf(response(status, body), "api")).toEqual(expected);
  });

  it("on the session's own refresh, invalid_target is the operator's error, and bad_token is invalid_grant", () => {
    expect(meaningOf(response(400, { error: "invalid_target" }), "refresh")).toEqual({
      kind: "operator",
      reason: "invalid_target",
    });
    const badToken = response(400, { error: "invalid_grant", suberror: "bad_token" });
    expect(meaningOf(badToken, "refresh")).toEqual({ kind: "refused", reason: "invalid_grant" });
  });
});

describe("what a response to a pushed authorization request means", () => {
  it.each<[number, unknown, Meaning["kind"], string?]>([
    [201, { request_uri: "urn:x" }, "ok"],
    [200, { request_uri: "urn:x" }, "ok"],
    [202, { request_uri: "urn:x" }, "outage", "http_202"],
    [204, { request_uri: "urn:x" }, "outage", "http_204"],
    [201, {}, "outage", "par_response"],
    [201, { error: "invalid_client" }, "operator", "invalid_client"],
    [201, { error: "temporarily_unavailable" }, "outage", "temporarily_unavailable"],
    [400, { error: "invalid_request" }, "refused", "invalid_request"],
    [401, "", "operator", "http_401"],
    [403, "", "operator", "http_403"],
    [403, { error: "unauthorized_client" }, "operator", "unauthorized_client"],
    [400, { error: "unauthorized_client" }, "operator", "unauthorized_client"],
    [403, { error: "access_denied" }, "refused", "access_denied"],
    [503, "", "outage", "http_503"],
  ])("%i %j: %s", (status, body, kind, reason) => {
    expect(meaningOf(response(status, body), "push")).toMatchObject({
      kind,
      ...(reason !== undefined && { reason }),
    });
  });
});

it("a success has the members of the response, and an error beside tokens doesn't count", () => {
  const body = { access_token: "a", error: "invalid_grant", of_the_provider: [1] };
  expect(meaningOf(response(200, body), "refresh")).toEqual({ kind: "ok", body });
});

it.each([
  ["temporarily_unavailable", true],
  ["server_error", true],
  ["slow_down", true],
  ["invalid_grant", false],
  ["http_503", false],
])("the reason %s counts as a 503: %s", (reason, expected) => {
  expect(asksToTryLater(reason)).toBe(expected);
});

describe("[TOK-1] the parts of a token response", () => {
  it.each(["Bearer", "bearer", "BEARER", "bEaReR"])("token_type %s is a bearer token", (type) => {
    expect(tokensOf({ token_type: type, access_token: "a" }).accessToken).toBe("a");
  });

  it.each(["DPoP", "mac", "", undefined, null, 1])(
    "token_type %s gives no access token, and the rotated refresh token all the same",
    (type) => {
      const tokens = tokensOf({ token_type: type, access_token: "a", refresh_token: "next" });
      expect(tokens).toMatchObject({
        accessToken: undefined,
        isOtherType: true,
        refreshToken: "next",
      });
    },
  );

  it.each([
    ["", undefined],
    [null, undefined],
    [undefined, undefined],
    ["a.b.c", "a.b.c"],
    [7, ""],
  ])("id_token %j: an empty one is absent, one that isn't a string is wrong", (given, expected) => {
    expect(tokensOf({ id_token: given }).idToken).toBe(expected);
  });

  it.each([
    ["a b  c", ["a", "b", "c"]],
    ["", undefined],
    [["a"], undefined],
    [undefined, undefined],
  ])("scope %j", (scope, expected) => {
    expect(tokensOf({ scope }).scopes).toEqual(expected);
  });

  it.each([
    [3600, 3600],
    ["3600", 3600],
    [0, 0],
    [0.5, 0.5],
    [-1, undefined],
    ["-1", undefined],
    ["soon", undefined],
    [1e30, undefined],
    [NaN, undefined],
    [null, undefined],
    [{}, undefined],
    [undefined, undefined],
  ])("expires_in %j lives %j seconds", (value, expected) => {
    expect(lifetime(value)).toBe(expected);
  });
});
