import { describe, expect, it } from "vitest";
import type { ProviderResponse } from "../../src/provider/provider-connection.js";
import { lifetime, meaningOf, tokensOf, type Meaning } from "../../src/provider/token-endpoint.js";

const response = (status: number, body: unknown, type = "application/json") => ({
  status,
  headers: new Headers({ "content-type": type }),
  text: typeof body === "string" ? body : JSON.stringify(body),
});

describe("[F5] what a response of the token endpoint means", () => {
  // What both requests share; then the meaning for a code exchange, and for a refresh.
  const ROWS: [string, ProviderResponse, string, string?][] = [
    ["200 with a JSON object", response(200, { access_token: "a" }), "ok"],
    ["200 with a JSON object of no declared type", response(200, { a: 1 }, ""), "ok"],
    ...[400, 401, 403, 404, 408, 422, 429].map((status): [string, ProviderResponse, string] => [
      `${String(status)} invalid_grant`,
      response(status, { error: "invalid_grant" }),
      "refused invalid_grant",
    ]),
    [
      "400 with an error of the provider's own",
      response(400, { error: "redirect_uri_mismatch" }),
      "refused redirect_uri_mismatch",
    ],
    ["400 without a body", response(400, ""), "refused http_400"],
    ["400 with a web page", response(400, "<html>", "text/html"), "refused http_400"],
    [
      "400 with an error that is no code",
      response(400, { error: "<script>\r\nX" }),
      "refused http_400",
    ],
    [
      "400 with an error that is no string",
      response(400, { error: ["invalid_client"] }),
      "refused http_400",
    ],
    ["400 with an endless error", response(400, { error: "a".repeat(65) }), "refused http_400"],
    ...[400, 401, 403].map((status): [string, ProviderResponse, string] => [
      `${String(status)} invalid_client`,
      response(status, { error: "invalid_client" }),
      "operator invalid_client",
    ]),
    ...[400, 401, 403].flatMap((status) =>
      ["unauthorized_client", "unsupported_grant_type", "invalid_scope"].map(
        (error): [string, ProviderResponse, string, string] => [
          `${String(status)} ${error}`,
          response(status, { error }),
          `refused ${error}`,
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
    ...[401, 403, 404, 405, 410, 418, 422, 451].map(
      (status): [string, ProviderResponse, string, string] => [
        String(status),
        response(status, ""),
        `refused http_${String(status)}`,
        `operator http_${String(status)}`,
      ],
    ),
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
    ...[
      "",
      "{",
      "null",
      "1",
      "[]",
      '"x"',
      "true",
      "<html></html>",
      "\uFEFF{}",
      "{}{}",
      "access_token=a",
    ].map((body): [string, ProviderResponse, string] => [
      `200 with the body ${JSON.stringify(body)}`,
      response(200, body),
      "outage not_json",
    ]),
    [
      "200 with JSON in a web page's type",
      response(200, { access_token: "a" }, "text/html; charset=utf-8"),
      "outage not_json",
    ],
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

describe("[TOK-1] the parts of a token response", () => {
  it.each(["Bearer", "bearer", "BEARER", "bEaReR"])("token_type %s is a bearer token", (type) => {
    expect(tokensOf({ token_type: type, access_token: "a" }).accessToken).toBe("a");
  });

  it.each(["DPoP", "mac", "", undefined, null, 1])(
    "token_type %s gives no access token, and the rotated refresh token all the same",
    (type) => {
      const tokens = tokensOf({ token_type: type, access_token: "a", refresh_token: "next" });
      expect(tokens).toMatchObject({ accessToken: undefined, refreshToken: "next" });
    },
  );

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
