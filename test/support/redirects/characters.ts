import type { OwnAddress } from "./own-address.js";

/** Browsers read a backslash as a slash; most other parsers do not. */
export const backslash = ({ origin, scheme, host }: OwnAddress): readonly string[] => [
  "\\evil.example",
  "\\\\evil.example",
  "/\\evil.example",
  "\\/evil.example",
  "/\\/evil.example",
  "//\\evil.example",
  `${scheme}:\\\\evil.example\\`,
  `${scheme}:\\\\${host}\\`,
  `${scheme}:/\\${host}/`,
  `${scheme}://evil.example\\@${host}/`,
  `${origin}\\@evil.example/`,
  `${origin}\\.evil.example/`,
  `${origin}\\\\evil.example/`,
  `${origin}\\`,
  `${origin}/\\evil.example`,
  `${origin}/\\/evil.example`,
  `${origin}/?next=\\evil.example`,
  `${origin}/#\\evil.example`,
];

/** Characters that some parsers drop anywhere in the text. */
const DROPPED: readonly string[] = ["\t", "\n", "\r", "\r\n", "\u0000", " "];

/** Other control characters and white space. */
const OTHERS: readonly string[] = [
  "\u000b",
  "\f",
  "\u001b",
  "\u001f",
  "\u007f",
  "\u0085",
  "\u00a0",
  "\u2028",
  "\u3000",
  "\ufeff",
];

export const controlAndWhiteSpace = ({ origin, scheme, host }: OwnAddress): readonly string[] => [
  ...DROPPED.flatMap((character) => [
    `${character}${origin}/reports`,
    `${origin}${character}.evil.example/`,
    `/${character}/evil.example`,
  ]),
  ...[...DROPPED, ...OTHERS].map((character) => `${origin}/reports${character}`),
  `${origin}/a b`,
  `${origin}/#\u0000`,
  `${origin} @evil.example/`,
  `${scheme}:/\t/${host}/`,
  " //evil.example",
  "\u0001javascript:alert(1)",
  `${origin}/\r\nLocation: ${scheme}://evil.example/`,
  `${origin}/\r\nSet-Cookie: idpauth=evil`,
  `${origin}/\u009f`,
  " ",
  "\u0000",
];

/**
 * Invisible, foreign and wide letters in the host, and characters that normalise to a dot, a slash
 * or an `@`.
 */
export const unicodeHosts = ({ origin, scheme, host }: OwnAddress): readonly string[] => [
  `${origin}\u3002evil.example/`,
  `${origin}\uff0eevil.example/`,
  `${origin}\uff0fevil.example/`,
  `${origin}\u2044evil.example/`,
  `${origin}\uff20evil.example/`,
  `${origin}\uff3cevil.example/`,
  `${origin}\uff1a80/`,
  `${origin}\u200b/`,
  `${origin}\u200d.evil.example/`,
  `${origin}\u00ad/`,
  `${origin}\u202e/`,
  `${origin}\ud800/`,
  `${scheme}://\u200b${host}/`,
  `${scheme}\uff1a//${host}/`,
  `${scheme}:\uff0f\uff0f${host}/`,
  "\uff0f\uff0fevil.example",
  `${scheme}://${wide(host)}/`,
  `${scheme}://${host.replace(/[aeo]/, (letter) => CYRILLIC[letter] ?? letter)}\u0430/`,
  `${scheme}://xn--${host}/`,
  `${scheme}://\u2100.example/`,
  "//\u24d4\u24e5\u24d8\u24db.example/",
];

const CYRILLIC: Readonly<Record<string, string>> = { a: "\u0430", e: "\u0435", o: "\u043e" };

/** Full-width letters and digits, which normalise to the application's own host name. */
function wide(text: string): string {
  return text.replace(/[a-z0-9.]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0));
}
