import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { requestOrigin } from "../../src/http/redirects.js";
import { sameOriginUrl } from "../../src/http/same-origin-url.js";
import { redirectCorpus } from "../support/redirect-corpus.js";

/**
 * RFC 3986 (section 3) as one strict expression for http and https: an authority without user info,
 * registered names of ASCII only. It stands for the parsers that are not browsers: proxies, CDNs,
 * mobile clients.
 */
const RFC_3986 =
  /^(?<scheme>https?):\/\/(?<authority>(?<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~!$&'()*+,;=-]+)(?::(?<port>[0-9]*))?)(?<path>(?:\/(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})*)*)(?:\?(?<query>(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*))?(?:#(?<fragment>(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*))?$/;

/**
 * What even a sloppy parser takes for the authority: everything up to the first slash, question
 * mark or hash (RFC 3986 appendix B).
 */
const APPENDIX_B = /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?([^?#]*)(\?([^#]*))?(#(.*))?/s;

const OWN_ORIGINS = [
  "https://app.example",
  "http://app.example",
  "https://app.example:8443",
  "http://127.0.0.1:3000",
  "http://localhost:3000",
  "http://[::1]:3000",
] as const;
const ownOrigin = fc.constantFrom(...OWN_ORIGINS);

const FRAGMENTS = [
  "https:", "http:", "javascript:", "data:", "blob:", "//", "/", "///", "\\", "/\\", "\\/", "@", ":", ":443", ":80", ":3000", ":", "?", "#", "%", "%2f", "%2F", "%5c", "%40", "%23",
  "%00", "%0a", "%09", "%2e%2e", "..", "/../", "/./", ".", "evil.test", "@evil.test", ".evil.test", "/evil.test", "app.example", "APP.EXAMPLE", "user:pass@", "[::1]", "[", "]", "|", "^", "<", ">", "\"", "'",
  " ", "\t", "\r", "\n", "\r\n", "\u0000", "\u001f", "\u007f", "\u0085", "\u00a0", "\u00ad", "\u200b", "\u2028", "\u3000", "\u3002", "\uff0e", "\uff0f", "\uff1a", "\uff20", "\ufeff", "\ud800", "\u{1f600}", "\u0430", "é", "\u2100",
  "a", "x=1", "&", ";", ",", "=", "+", "$", "*", "!", "(", ")", "~", "-", "_", "{", "}", "`",
]; // prettier-ignore

const fragment = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...FRAGMENTS) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 4 }) },
  { weight: 1, arbitrary: fc.webUrl() },
);

/** The own origin, often with a wound: something put in, taken out or changed in case. */
const wounded = (own: string) =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constant(own) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.nat(own.length), fragment)
        .map(([at, text]) => own.slice(0, at) + text + own.slice(at)),
    },
    {
      weight: 1,
      arbitrary: fc.nat(own.length - 1).map((at) => own.slice(0, at) + own.slice(at + 1)),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        own.toUpperCase(),
        encodeURIComponent(own),
        own.replace("//", "/"),
        own.replace(/^\w+:/, ""),
      ),
    },
  );

const nasty = fc
  .tuple(ownOrigin, fc.array(fragment, { maxLength: 2 }), fc.array(fragment, { maxLength: 6 }))
  .chain(([own, before, after]) =>
    wounded(own).chain((middle) =>
      fc
        .oneof(
          { weight: 8, arbitrary: fc.constant("") },
          { weight: 1, arbitrary: fc.constant(before.join("")) },
        )
        .map((start) => ({ own: own, raw: start + middle + after.join("") })),
    ),
  );

const CORPUS = new Map(
  OWN_ORIGINS.map((own) => [own, redirectCorpus(own).filter(({ value }) => value.length < 300)]),
);

/** One change to a text: where is taken modulo its length. */
const change = fc.record({
  kind: fc.constantFrom(
    "insert",
    "delete",
    "replace",
    "double",
    "encode",
    "decode",
    "upper",
    "wide",
    "splice",
    "swap" as const,
  ),
  at: fc.nat(),
  length: fc.integer({ min: 1, max: 6 }),
  text: fragment,
  other: fc.nat(),
});

function changed(
  raw: string,
  { kind, at, length, text, other }: typeof change extends fc.Arbitrary<infer T> ? T : never,
  corpus: readonly string[],
): string {
  const from = at % (raw.length + 1);
  const [before, piece, after] = [
    raw.slice(0, from),
    raw.slice(from, from + length),
    raw.slice(from + length),
  ];
  switch (kind) {
    case "insert":
      return before + text + piece + after;
    case "delete":
      return before + after;
    case "replace":
      return before + text + after;
    case "double":
      return before + piece + piece + after;
    case "encode":
      return before + encodeURIComponent(piece.toWellFormed()) + after;
    case "decode":
      return (
        before +
        (piece + after).replace(/%([0-9a-f]{2})/i, (_all, hex: string) =>
          String.fromCharCode(Number.parseInt(hex, 16)),
        )
      );
    case "upper":
      return before + piece.toUpperCase() + after;
    case "wide":
      return (
        before +
        piece.replace(/[!-~]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0)) +
        after
      );
    case "splice":
      return before + (corpus[other % corpus.length] ?? "").slice(-(1 + (at % 24)));
    case "swap":
      return after + before + piece;
  }
}

/**
 * A value of the redirect corpus, changed in one to four places: close to what people really try.
 */
const mutated = ownOrigin.chain((own) => {
  const cases = CORPUS.get(own) ?? [];
  const corpus = cases.map(({ value }) => value);
  const kept = cases.filter(({ location }) => location !== null).map(({ value }) => value);
  return fc
    .tuple(
      fc.oneof(fc.constantFrom(...kept), fc.constantFrom(...corpus)),
      fc.array(change, { minLength: 1, maxLength: 4 }),
    )
    .map(([value, changes]) => ({
      own: own,
      raw: changes.reduce((raw, each) => changed(raw, each, corpus), value),
    }));
});

/** Well-formed by construction, so that the rule is also seen to accept. */
const wellFormed = fc
  .tuple(
    ownOrigin,
    fc.array(fc.stringMatching(/^[A-Za-z0-9._~@:-]{0,8}$/), { maxLength: 4 }),
    fc.option(fc.webQueryParameters()),
    fc.option(fc.webFragments()),
  )
  .map(([own, segments, query, hash]) => ({
    own: own,
    raw: `${own}${segments.map((segment) => `/${segment}`).join("")}${query === null ? "" : `?${query}`}${hash === null ? "" : `#${hash}`}`,
  }));

const RUNS = 10_000;

function staysHome(own: string, raw: string): void {
  const accepted = sameOriginUrl(raw, own);
  if (accepted === undefined) return;

  // A browser that gets it as Location, whatever page it is on.
  for (const base of [own, "https://evil.test/", `${own}/idpauth/login-callback?x=1`]) {
    const url = new URL(accepted, base);
    expect(url.origin).toBe(own);
    expect([url.username, url.password]).toEqual(["", ""]);
    expect(url.href).toBe(accepted);
  }
  // What was sent, not only what was made of it, leads home too.
  expect(new URL(raw, "https://evil.test/").origin).toBe(own);
  expect(`${APPENDIX_B.exec(raw)?.[1] ?? ""}://${APPENDIX_B.exec(raw)?.[2] ?? ""}`).toBe(own);
  // And a strict parser, which knows nothing of the WHATWG's leniency, agrees once what it does not
  // know is encoded.
  const strict = RFC_3986.exec(
    accepted
      .replace(/%(?![0-9A-Fa-f]{2})/g, "%25")
      .replace(/[{}|^`[\]]/g, (character, at: number) =>
        at < own.length ? character : encodeURIComponent(character),
      )
      .replace(/(?<=#.*)#/gs, "%23"),
  );
  expect(strict, accepted).not.toBeNull();
  expect(`${strict?.groups?.["scheme"] ?? ""}://${strict?.groups?.["authority"] ?? ""}`).toBe(own);
  // It cannot break out of its header line.

  expect(accepted).toMatch(/^[\u0021-\u007e]+$/);
}

describe("[BCP-1] every address that sameOriginUrl accepts, every parser puts on our own origin", () => {
  it("for nasty mixtures", () => {
    fc.assert(
      fc.property(nasty, ({ own, raw }) => {
        staysHome(own, raw);
      }),
      { numRuns: RUNS },
    );
  });

  it("for values of the redirect corpus that were changed in a few places", () => {
    fc.assert(
      fc.property(mutated, ({ own, raw }) => {
        staysHome(own, raw);
      }),
      { numRuns: RUNS },
    );
  });

  it("for well-formed addresses, which are accepted", () => {
    fc.assert(
      fc.property(wellFormed, ({ own, raw }) => {
        expect(sameOriginUrl(raw, own)).toBe(new URL(raw).href);
        staysHome(own, raw);
      }),
      { numRuns: 2_000 },
    );
  });

  it("accepting is stable: what was accepted is accepted again, unchanged", () => {
    fc.assert(
      fc.property(nasty, ({ own, raw }) => {
        const accepted = sameOriginUrl(raw, own);
        if (accepted !== undefined) expect(sameOriginUrl(accepted, own)).toBe(accepted);
      }),
      { numRuns: RUNS / 4 },
    );
  });

  it.each([
    ["mixtures", nasty],
    ["changes of the corpus", mutated],
  ])("the generator of %s does its work: it makes both kinds in numbers", (_name, values) => {
    const accepted = fc
      .sample(values, { numRuns: 5_000, seed: 11 })
      .filter(({ own, raw }) => sameOriginUrl(raw, own) !== undefined);
    expect(accepted.length).toBeGreaterThan(300);
    expect(accepted.length).toBeLessThan(4_000);
  });

  it("another own origin's addresses are never accepted", () => {
    fc.assert(
      fc.property(wellFormed, ownOrigin, ({ own, raw }, other) => {
        fc.pre(other !== own);
        expect(sameOriginUrl(raw, other)).toBeUndefined();
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("every origin that requestOrigin accepts", () => {
  it("is an origin and nothing more: no user info, no path, no query", () => {
    const host = fc.oneof(
      fc.array(fragment, { maxLength: 5 }).map((parts) => parts.join("")),
      fc.domain(),
      fc.tuple(fc.domain(), fc.nat(70_000)).map(([name, port]) => `${name}:${String(port)}`),
    );
    fc.assert(
      fc.property(fc.constantFrom("http" as const, "https" as const), host, (scheme, value) => {
        const origin = requestOrigin(scheme, value);
        if (origin === undefined) return;
        const url = new URL(origin);
        expect(url.href).toBe(`${origin}/`);
        expect(url.protocol).toBe(`${scheme}:`);
        expect(origin).toMatch(/^https?:\/\/[a-z0-9._:[\]-]+$/);
      }),
      { numRuns: RUNS / 4 },
    );
  });
});
