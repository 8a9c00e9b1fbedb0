import type { OwnAddress } from "./own-address.js";
import { LONGEST } from "./spellings.js";

/**
 * A path, query or fragment that is kept, and its form in the Location. One value alone stays
 * unchanged.
 */
type Kept = readonly [rest: string, href?: string];

const PLAIN: readonly Kept[] = [
  ["", "/"],
  ["/"],
  ["/reports"],
  ["/reports/7?sort=up&page=2#row-3"],
  ["?", "/?"],
  ["#", "/#"],
  ["?#", "/?#"],
  ["?sort=up", "/?sort=up"],
  ["#top", "/#top"],
  ["?a=1&b=2&a=3&a", "/?a=1&b=2&a=3&a"],
  ["/?q=a+b%20c"],
  ["/?a[]=1&a[k]=2"],
  ["/a;v=1,b/$&+,;=:@!*()~-_"],
  ["/idpauth/login/?scheme=DEFAULT"],
];

/** Text after the origin, which cannot lead to another origin, even if it looks like an address. */
const LOOKALIKES: readonly Kept[] = [
  ["//evil.example"],
  ["//evil.example/reports"],
  ["/@evil.example"],
  ["/:80@evil.example/"],
  ["/https://evil.example/"],
  ["/javascript:alert(1)"],
  ["?@evil.example", "/?@evil.example"],
  ["#@evil.example", "/#@evil.example"],
  ["?//evil.example", "/?//evil.example"],
  ["#//evil.example", "/#//evil.example"],
  ["?https://evil.example/", "/?https://evil.example/"],
  ["/?next=//evil.example&u=https://evil.example/"],
  ["/%40evil.example"],
];

const DOTS: readonly Kept[] = [
  ["/..", "/"],
  ["/.", "/"],
  ["/a/./b", "/a/b"],
  ["/a/../b", "/b"],
  ["/../../etc/passwd", "/etc/passwd"],
  ["/%2e%2e/x", "/x"],
  ["/.%2E/x", "/x"],
  ["/.//evil.example", "//evil.example"],
  ["/a/..//evil.example", "//evil.example"],
  ["/%252e%252e/x"],
  ["/..%2fx"],
  ["/a..b/..c"],
  ["/?q=/../x"],
  ["/#/../x"],
];

const FRAGMENTS: readonly Kept[] = [
  ["/#a#b"],
  ["/#/route?x=1"],
  ["/#!/route"],
  ["/##"],
  ["/#<b>", "/#%3Cb%3E"],
  ["/#access_token=evil"],
];

/** Encoded text stays unchanged, because no part is decoded. */
const ENCODED: readonly Kept[] = [
  ["/%2f%2fevil.example"],
  ["/%5cevil.example"],
  ["/%255cevil.example"],
  ["/a%2Fb%3Fc%23d"],
  ["/%0d%0aSet-Cookie:%20a=b"],
  ["/%00"],
  ["/%09/%0a"],
  ["/%"],
  ["/%zz%2"],
  ["/%c0%af%c0%ae"],
  ["/%ff"],
  ["/?u=http%3A%2F%2Fevil.example%2F"],
  ["/?u=http%253A%252F%252Fevil.example"],
  ["/%3Cscript%3E"],
];

const UNICODE: readonly Kept[] = [
  ["/caf\u00e9", "/caf%C3%A9"],
  ["/?q=\u00e4", "/?q=%C3%A4"],
  ["/\u65e5\u672c", "/%E6%97%A5%E6%9C%AC"],
  ["/\u{1f600}", "/%F0%9F%98%80"],
  ["/\uff0f\uff0fevil.example", "/%EF%BC%8F%EF%BC%8Fevil.example"],
  ["/\uff3cevil.example", "/%EF%BC%BCevil.example"],
  ["/\u200b", "/%E2%80%8B"],
  ["/\u202etxt", "/%E2%80%AEtxt"],
  ["/\ud800", "/%EF%BF%BD"],
  ["/<script>\"'", "/%3Cscript%3E%22'"],
  ["/?q=<\"'>", "/?q=%3C%22%27%3E"],
  ["/{x}", "/%7Bx%7D"],
];

const PARAMETERS: readonly Kept[] = [
  ["/x&redirect_uri=https://evil.example/"],
  ["/?a=1&scope=admin&redirect_uri=https://evil.example/cb"],
  ["/?response_type=token&state=evil&nonce=evil"],
  ["/?scheme=LANDING_PAGE&response=json&origin_url=//evil.example"],
  ["/%26redirect_uri=//evil.example"],
];

const LONG: readonly Kept[] = [["/reports?q=".padEnd(1024, "q")]];

/** Returns pairs of the value and its Location, by group. */
export const keptValues = ({ origin }: OwnAddress) => {
  const kept = (rows: readonly Kept[]) =>
    rows.map(([rest, href = rest]) => [origin + rest, origin + href] as const);
  const longest = `${origin}/`.padEnd(LONGEST, "a");
  return {
    plain: kept(PLAIN),
    "look-alike path": kept(LOOKALIKES),
    "dot segments": kept(DOTS),
    fragment: kept(FRAGMENTS),
    encoded: kept(ENCODED),
    unicode: kept(UNICODE),
    "parameter injection": kept(PARAMETERS),
    "very long": [...kept(LONG), [longest, longest] as const],
  };
};
