import type { OwnAddress } from "./own-address.js";

/** Encoded text that only a parser sees which decodes too early or twice. */
export const encodedForms = ({ origin, scheme, host }: OwnAddress): readonly string[] => {
  const encoded = encodeURIComponent(`${origin}/reports`);
  return [
    encoded,
    encodeURIComponent(encoded),
    encodeURIComponent("//evil.example/"),
    "%2f%2fevil.example",
    "/%2fevil.example",
    "/%5cevil.example",
    "%5c%5cevil.example",
    "/%09/evil.example",
    `%20${origin}/`,
    `${scheme}:%2f%2f${host}/`,
    `${scheme}%3a//${host}/`,
    `${scheme}:%252f%252f${host}/`,
    `%68ttp${scheme.slice(4)}://${host}/`,
    `${scheme}://%${host.charCodeAt(0).toString(16)}${host.slice(1)}/`,
    `${origin}%2eevil.example/`,
    `${origin}%2fevil.example/`,
    `${origin}%5c@evil.example/`,
    `${origin}%00.evil.example/`,
    `${origin}%09.evil.example/`,
    `${origin}%20/`,
    `${origin}%3a80/`,
    `${origin}%e3%80%82evil.example/`,
    `${origin}%`,
    `${origin}&sol;evil.example/`,
    "&#47;&#47;evil.example",
    "\\u002f\\u002fevil.example",
  ];
};

/** Addresses that one parser takes for the application's own and another does not. */
export const addressSpellings = ({ origin, scheme, port }: OwnAddress): readonly string[] => {
  const at = port === "" ? "" : `:${port}`;
  return [
    `${scheme}://127.0.0.1${at}/`,
    `${scheme}://127.1${at}/`,
    `${scheme}://2130706433${at}/`,
    `${scheme}://0x7f000001${at}/`,
    `${scheme}://0177.0.0.1${at}/`,
    `${scheme}://127.0.0.1.${at}/`,
    `${scheme}://0.0.0.0${at}/`,
    `${scheme}://169.254.169.254/latest/meta-data/`,
    `${scheme}://[::1]${at}/`,
    `${scheme}://[0:0:0:0:0:0:0:1]${at}/`,
    `${scheme}://[::ffff:127.0.0.1]${at}/`,
    `${scheme}://[::ffff:7f00:1]${at}/`,
    `${scheme}://[::1${at}/`,
    `${scheme}://::1${at}/`,
    `${scheme}://localhost${at}/`,
    `${scheme}://localhost.${at}/`,
  ].filter((value) => !value.startsWith(origin));
};

/** Values that at least one parser rejects as a URL. */
export const malformed = ({ origin, scheme, host }: OwnAddress): readonly string[] => [
  `${scheme}://`,
  `${scheme}:`,
  scheme,
  `${scheme}://[`,
  `${scheme}://[${host}]/`,
  `${scheme}://%/`,
  `${scheme}://${host}..evil.example/`,
  `${scheme}://..${host}/`,
  "//",
  "/",
  "%",
  "null",
  "[object Object]",
  `["${origin}/"]`,
  `<a href="${origin}/">`,
  "${origin}/",
  "\ud800",
];

/** Values that try to add parameters to the login or to the authorization request. */
export const injection = ({ origin, scheme }: OwnAddress): readonly string[] => [
  `${origin}&redirect_uri=${scheme}://evil.example/`,
  `${origin}&scope=admin&redirect_uri=${scheme}://evil.example/cb`,
  `${origin}&origin_url=${scheme}://evil.example/`,
  `${origin}%26redirect_uri=${scheme}://evil.example/`,
  `${origin};redirect_uri=${scheme}://evil.example/`,
  `${scheme}://evil.example/&redirect_uri=${origin}/`,
  "&redirect_uri=//evil.example/",
  "x&response_type=token&state=evil",
];

export const empty = (): readonly string[] => [""];

/** Characters of the longest kept value, and of the longest Location. */
export const LONGEST = 2048;

/** Values beyond those limits, before or after encoding. */
export const veryLong = ({ origin, scheme, name }: OwnAddress): readonly string[] => [
  `${origin}/`.padEnd(LONGEST + 1, "a"),
  `${origin}/`.padEnd(12 * 1024, "a"),
  `${origin}/?q=`.padEnd(12 * 1024, "q"),
  `${origin}/#`.padEnd(12 * 1024, "h"),
  // Four thousand: a query encodes each slash as three characters.
  origin.padEnd(4 * 1024, "/"),
  `${origin}/`.padEnd(4 * 1024, "../"),
  `${scheme}://${"a.".repeat(6 * 1024)}${name}/`,
  `//evil.example/`.padEnd(12 * 1024, "x"),
  `${origin}@`.padEnd(12 * 1024, "e"),
  // Short as it is sent, long as a browser encodes it.
  `${origin}/`.padEnd(LONGEST / 2, "\u3042"),
];
