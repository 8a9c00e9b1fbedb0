import { describe, expect, it } from "vitest";
import { passesCsrf } from "../../src/guard/csrf.js";
import type { IdpRequest } from "../../src/http/request.js";

const OWN = "https://app.example";

const SAFE = ["GET", "HEAD", "OPTIONS", "TRACE"];
const UNSAFE = [
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "CONNECT",
  "PROPFIND",
  "LOCK",
  "QUERY",
  "get",
  "X",
];
const TYPES = [
  undefined,
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "text/plain",
  "text/plain;application/json",
  "application/json",
  "application/graphql",
  "",
];
const OWN_SITES = ["same-origin", "none"];
// Node joins the lines of a repeated header with a comma, and an adapter gives the value as the
// browser sent it.
const OTHER_SITES = [
  "same-site",
  "cross-site",
  "garbage",
  "",
  "same-origin, same-origin",
  "none, none",
  "same-origin, cross-site",
  "Same-Origin",
  "SAME-ORIGIN",
  "NONE",
  "same-origin;q=1",
  '"same-origin"',
  " same-origin",
];
const OTHER_ORIGINS = [
  "null",
  "",
  "https://evil.example",
  "https://app.example.evil.example",
  "https://evilapp.example",
  "https://sub.app.example",
  "https://app.example:444",
  "https://app.example:443",
  "http://app.example",
  "https://app.example.",
  "https://app.example/",
  "https://app.example@evil.example",
  "https://APP.example",
  "HTTPS://app.example",
  "https://app.example, https://app.example",
  "https://app.example https://evil.example",
  "undefined",
];
const PROGRAM = [undefined, "", "1", "fetch"];

interface Sent {
  readonly method: string;
  readonly type?: string | undefined;
  readonly site?: string | undefined;
  readonly origin?: string | undefined;
  readonly program?: string | undefined;
}

function passes({ method, type, site, origin, program }: Sent, own: string | null = OWN): boolean {
  const headers: Readonly<Record<string, string | undefined>> = {
    "content-type": type,
    "sec-fetch-site": site,
    origin,
    "x-idpauth": program,
  };
  const request: IdpRequest = {
    method,
    target: "/items",
    scheme: "https",
    host: "app.example",
    header: (name) => headers[name],
  };
  return passesCsrf(request, () => own ?? undefined);
}

/** All combinations. `undefined` stands for a missing header. */
function* corpus(
  methods: readonly string[],
  sites: readonly (string | undefined)[],
  origins: readonly (string | undefined)[],
  programs: readonly (string | undefined)[] = PROGRAM,
): Generator<Sent> {
  for (const method of methods)
    for (const type of TYPES)
      for (const site of sites)
        for (const origin of origins)
          for (const program of programs) yield { method, type, site, origin, program };
}

/** The requests of which the rule decides otherwise than expected. */
function wrong(requests: Iterable<Sent>, expected: boolean): readonly Sent[] {
  return [...requests].filter((sent) => passes(sent) !== expected);
}

describe("[CSRF-1] a request with an unsafe method", () => {
  it("passes with Sec-Fetch-Site same-origin or none, with any other headers", () => {
    expect(wrong(corpus(UNSAFE, OWN_SITES, [undefined, OWN, ...OTHER_ORIGINS]), true)).toEqual([]);
  });

  it("is refused with any other Sec-Fetch-Site, with any other headers", () => {
    expect(wrong(corpus(UNSAFE, OTHER_SITES, [undefined, OWN, ...OTHER_ORIGINS]), false)).toEqual(
      [],
    );
  });

  it("without Sec-Fetch-Site passes with the own Origin", () => {
    expect(wrong(corpus(UNSAFE, [undefined], [OWN]), true)).toEqual([]);
  });

  it("without Sec-Fetch-Site is refused with any other Origin, with any X-Idpauth", () => {
    expect(wrong(corpus(UNSAFE, [undefined], OTHER_ORIGINS), false)).toEqual([]);
  });

  it("without Sec-Fetch-Site and Origin passes only with a value of X-Idpauth", () => {
    expect(wrong(corpus(UNSAFE, [undefined], [undefined], ["1", "fetch"]), true)).toEqual([]);
    expect(wrong(corpus(UNSAFE, [undefined], [undefined], [undefined, ""]), false)).toEqual([]);
  });

  it("is refused with every Origin if the application's own origin is unknown", () => {
    for (const origin of [OWN, ...OTHER_ORIGINS]) {
      expect(passes({ method: "POST", origin }, null), origin).toBe(false);
    }
  });
});

it("[CSRF-1] a request with a safe method passes, with any headers", () => {
  const sites = [undefined, ...OWN_SITES, ...OTHER_SITES];
  expect(wrong(corpus(SAFE, sites, [undefined, OWN, ...OTHER_ORIGINS]), true)).toEqual([]);
});
