import type { OwnAddress } from "./own-address.js";

/** Without a scheme, a browser uses the page's scheme, and reads the host after the slashes. */
export const schemeRelative = ({ host }: OwnAddress): readonly string[] => [
  `//${host}/reports`,
  "//evil.example/reports",
  "///evil.example/reports",
  "//evil.example:443/",
  `//${host}@evil.example/`,
  `//evil.example/${host}`,
  "/reports",
  "reports",
  "/.//evil.example",
  "/..//evil.example",
  ".evil.example",
  "@evil.example",
  host,
  `${host}/reports`,
  "://evil.example",
];

/** The application's host or origin at the beginning or the end of another address. */
export const prefixAndSuffix = ({ origin, scheme, name, host }: OwnAddress): readonly string[] => [
  `${origin}.evil.example`,
  `${scheme}://${name}.evil.example/`,
  `${scheme}://${name}-evil.example/`,
  `${origin}evil.example/`,
  `${origin}0/`,
  `${origin}-/`,
  `${origin}./`,
  `${origin},evil.example/`,
  `${origin};evil.example/`,
  `${origin}|evil.example/`,
  `${origin}[evil.example]/`,
  `${scheme}://evil-${host}/`,
  `${scheme}://evil.${host}/`,
  `${scheme}://evil.example/?${origin}/`,
  `${scheme}://evil.example#${origin}/`,
  `${scheme}://evil.example;${host}/`,
  `${scheme}://.${host}/`,
  `x${origin}/`,
  `"${origin}/"`,
  `${origin.slice(0, -1)}/`,
  `${origin},${scheme}://evil.example/`,
  `URL:${origin}/`,
];

/** Text before an `@`, which is no host. */
export const userInfo = ({ origin, scheme, host, name }: OwnAddress): readonly string[] => [
  `${origin}@evil.example`,
  `${origin}:443@evil.example/`,
  `${origin}:secret@evil.example/`,
  `${origin}@@evil.example/`,
  `${origin}@${host}/`,
  `${origin}%40evil.example/`,
  `${origin}%2f@evil.example/`,
  `${origin}%23@evil.example/`,
  `${origin}%3f@evil.example/`,
  `${scheme}://ada@${host}/`,
  `${scheme}://ada:secret@${host}/`,
  `${scheme}://@${host}/`,
  `${scheme}://evil.example@${host}/`,
  `${scheme}://evil.example#@${host}/`,
  `${scheme}://${name}%3a443@evil.example/`,
];

/** Other ports. The own port is written the same way, or absent if it is the scheme's default. */
export const portGames = ({ origin, scheme, name, port }: OwnAddress): readonly string[] => [
  `${scheme}://${name}:/`,
  `${scheme}://${name}:${scheme === "http" ? "80" : "443"}/`,
  `${scheme}://${name}:${scheme === "http" ? "443" : "80"}/`,
  `${scheme}://${name}:8081/`,
  `${scheme}://${name}:0/`,
  `${scheme}://${name}:0${port || "80"}/`,
  `${scheme}://${name}:${port || "80"}0/`,
  `${scheme}://${name}:65536/`,
  `${scheme}://${name}:-80/`,
  `${scheme}://${name}:80:80/`,
  `${scheme}://${name}:evil.example/`,
  `${scheme}://${name}:\u0668\u0660/`,
  `${origin}:`,
  ...(port === "" ? [] : [`${scheme}://${name}`, `${scheme}://${name}/reports`]),
];

/** Other schemes, spellings of the own scheme, and too few or too many slashes. */
export const schemeGames = ({
  origin,
  scheme,
  otherScheme,
  host,
}: OwnAddress): readonly string[] => [
  `${otherScheme}://${host}/`,
  `${scheme.toUpperCase()}://${host}/`,
  `${scheme.charAt(0).toUpperCase()}${scheme.slice(1)}://${host}/`,
  `${scheme}:${host}/reports`,
  `${scheme}:/${host}/`,
  `${scheme}:///${host}/`,
  `${scheme}:evil.example`,
  `${scheme}s://${host}/`,
  `${scheme}:${origin}/`,
  `${scheme}+x://${host}/`,
  `${scheme}//${host}/`,
  "JavaScript:alert(1)",
  `javascript://${host}/%0aalert(1)`,
  `javascript:alert(1)//${origin}/`,
  "javascript\n:alert(1)",
  "data:text/html,<script>alert(1)</script>",
  `data:${origin}/`,
  `blob:${origin}/6f0f7f5e-0000-4000-8000-000000000000`,
  `view-source:${origin}/`,
  "file:///etc/passwd",
  `ftp://${host}/`,
  `intent://${host}/#Intent;scheme=https;package=evil;end`,
];
