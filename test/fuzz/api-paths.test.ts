import fc from "fast-check";
import { expect } from "vitest";
import { proxiedUrl } from "../../src/apis/api-url.js";
import { rulesFor } from "../../src/apis/path-rules.js";
import type { Api, PathAllowance } from "../../src/config/api-options.js";
import { apiRow } from "../apis/api-row.js";
import { fuzz } from "./fuzz.js";
import { mutatedText } from "./mutations.js";

const PREFIX = "/api/orders/";
const PIECES = ["/", "//", ".", "..", "%2e", "%252e", "%25", "25", "%", "%2f", "%2F", "%252f", "%5c", "%255C", "\\", ";", "%3b", "%253B", "%3F", "%23", "%20", "%00", "%0a", "\u0000", "#", "?", "@", ":", "//evil.example", "https://evil.example/", PREFIX, "/v2/", "x", "é", "%C3%A9", "%C0%AE", "%u002e", "%EF%BC%8E", " ", "\t", "'", "[", "|", "^", "admin", "Admin", "%61dmin", "adm%69n", "secret", "a", "2", "e"]; // prettier-ignore
/** A rule can name each of these. */
const NAMES = ["admin", "secret", "x", "a"];

const target = fc.oneof(
  fc
    .array(fc.constantFrom(...PIECES), { maxLength: 10 })
    .map((pieces) => `${PREFIX}${pieces.join("")}`),
  mutatedText(`${PREFIX}items/5/../x?q=1`, PIECES),
  mutatedText(`${PREFIX}admin/secret;x=1/a%252Fx`, PIECES),
);
/** What stands around the names of a rule in a path that means its resource, to some server. */
const dress = fc.record({
  before: fc.constantFrom("", "", "", "", "/", "%20", "%2520", ";x/", "%2F"),
  isUpper: fc.boolean(),
  after: fc.constantFrom("", "", "", "", ";x", "%3Bx", "%253Bx", ";x%2Fa", ";x%252Fa", "%20", "%3Fx", "%2523", ".", "%2520."), // prettier-ignore
  slash: fc.constantFrom("/", "/", "/", "//", "%2F", "%252F", "%2f%2F"),
});
type Dress = typeof dress extends fc.Arbitrary<infer Value> ? Value : never;
const spelled = (names: readonly string[], dresses: readonly Dress[]) =>
  PREFIX +
  dresses
    .map(({ before, isUpper, after, slash }, at) => {
      const name = names[at] ?? "x";
      return `${before}${isUpper ? name.toUpperCase() : name}${after}${slash}`;
    })
    .join("");
const ruled = fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 });
const given = fc.oneof(target, fc.array(dress, { minLength: 1, maxLength: 4 }));
const EVERYTHING: readonly PathAllowance[] = ["%2F", "//", ";"];
const allowances = fc.oneof(fc.constant(EVERYTHING), fc.subarray([...EVERYTHING]));

/** How a server makes its own path of the one that it gets. */
interface Server {
  /** How often it decodes. */
  readonly decodes: number;
  /** Whether it decodes before it splits at slashes, or each segment. */
  readonly decodesFirst: boolean;
  /** Whether it cuts parameters off before it decodes, or afterwards. */
  readonly cutsFirst: boolean;
  /** Whether it parses what it has decoded once more, so that a `?` ends the path. */
  readonly parsesAgain: boolean;
  /** Whether it trims segments, and merges slashes. */
  readonly trims: boolean;
}

const server: fc.Arbitrary<Server> = fc.record({
  decodes: fc.nat(4),
  decodesFirst: fc.boolean(),
  cutsFirst: fc.boolean(),
  parsesAgain: fc.boolean(),
  trims: fc.boolean(),
});

const decodedOnce = (text: string) =>
  text.replace(/%([0-9a-f]{2})/gi, (_all, hex: string) => String.fromCharCode(parseInt(hex, 16)));
const decodedTimes = (text: string, times: number) =>
  Array.from({ length: times }).reduce<string>(decodedOnce, text);

/** The names of the segments of the resource that a server takes a path for. */
function resource(path: string, options: Server): string[] {
  const { decodes, decodesFirst, cutsFirst, parsesAgain, trims } = options;
  const cut = (text: string) => text.replace(/;[^/\\]*/g, "");
  const decode = (text: string) => decodedTimes(text, decodes);
  const start = cutsFirst ? cut(path) : path;
  const text = decodesFirst ? decode(start) : start;
  const parsed = parsesAgain ? text.replace(/[?#].*$/s, "") : text;
  const segments = (cutsFirst ? parsed : cut(parsed))
    .split(/[/\\]/)
    .map((segment) => (decodesFirst ? segment : decode(segment)));
  return segments
    .map((segment) => (trims ? segment.trim() : segment))
    .filter((segment) => !trims || segment !== "");
}

/** Whether dot segments lead out of the base. */
function leavesBase(segments: readonly string[]): boolean {
  let depth = 0;
  for (const segment of segments) {
    if (segment === ".." && --depth < 0) return true;
    if (segment !== "" && segment !== "." && segment !== "..") depth++;
  }
  return false;
}

/** The rule of the path in its own words: round by round, however many there are. */
function isInNormalForm(path: string, paths: readonly PathAllowance[]): boolean {
  if (/[^\x21-\x7e]|[#\\"<>^`{}]|%(?![0-9a-f]{2})/i.test(path)) return false;
  for (let text = path, isFirst = true; ; isFirst = false) {
    const codes = [...text.matchAll(/%([0-9a-f]{2})/gi)].map(([, hex = ""]) => parseInt(hex, 16));
    const decoded = codes.map((code) => String.fromCharCode(code)).join("");
    if (/[A-Za-z0-9._~\\\x00-\x1f\x7f-]/.test(decoded)) return false;
    if (!paths.includes("%2F") && decoded.includes("/")) return false;
    if (!paths.includes(";") && text.includes(";")) return false;
    if (!paths.includes("//") && (text.startsWith("/") || text.includes("//"))) return false;
    const segments = text.split(/[/\\]/).map((segment) => segment.replace(/[;?#].*$/s, "").trim());
    if (segments.some((segment) => segment === "." || segment === "..")) return false;
    if (!isFirst && codes.length === 0) return true;
    text = decodedOnce(text);
  }
}

/**
 * Where more is refused: what lenient decoders read, what they drop, and slashes in parameters. The
 * unit tests have what passes of it.
 */
const BEYOND = /%(?:25)*(?:20|[89a-f])|%25.*u|(?:;|%(?:25)*3b).*%/i;

const encodedByte = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;

function accepts(api: Api, text: string): boolean {
  const url = proxiedUrl(api, text);
  if (!(url instanceof URL)) return false;
  // What is sent is what was checked: the base, and the rest of the text as it was.
  const rest = text.slice(PREFIX.length).replace(/(?<=\?.*)["'<>]/gs, encodedByte);
  expect(url.href).toBe(api.url.href + rest);
  expect(text.startsWith(PREFIX)).toBe(true);
  return true;
}

fuzz({
  id: "FUZZ-10",
  target: "path of a proxied request",
  runs: 5_000,
  property: fc.property(given, allowances, ruled, server, (chosen, paths, names, options) => {
    const text = typeof chosen === "string" ? chosen : spelled(names, chosen);
    const rule = { path: names.join("/"), maxAge: 60 };
    const api = apiRow({ paths, rules: [rule] });
    const path = text.slice(PREFIX.length).split("?", 1)[0] ?? "";
    const isAccepted = accepts(api, text);
    if (
      isAccepted ||
      (text.startsWith(PREFIX) && !/[^\x21-\x7e]|#/.test(text) && !BEYOND.test(path))
    )
      expect([text, isAccepted]).toEqual([text, isInNormalForm(path, paths)]);
    if (!isAccepted) return;
    const found = resource(path, options);
    expect([text, options, leavesBase(found)]).toEqual([text, options, false]);
    if (names.every((name, at) => name === found[at]?.toLowerCase()))
      expect([text, options, rulesFor(api, { method: "GET", target: text })]).toEqual([text, options, [rule]]); // prettier-ignore
  }),
});
