/**
 * Requests that no ordinary browser sends, and their outcome, which is the same with every adapter.
 */

/** A status, or several if a server or framework may refuse the request first. */
export type Outcome = number | readonly number[];

export interface HostileRequest {
  /** Method and target; PORT is the application's. */
  readonly line: string;
  readonly outcome: Outcome;
  /** The outcome if the server parses the target (WHATWG URL). Default: the same outcome. */
  readonly parsed?: Outcome;
  /**
   * Header lines, each with its line break; COOKIES stands for a signed-in user's. Default: these.
   */
  readonly headers?: string;
  /** Text in a 200 response: it shows the endpoint and the user. */
  readonly says?: string;
}

const IN = '"authenticated":true';
const OUT = '"authenticated":false';

/** The status of frameworks that refuse bad percent-encoding. */
const BAD_ENCODING: Outcome = [400, 404];

export const SPELLINGS: readonly HostileRequest[] = [
  { line: "GET /idpauth/session", outcome: 200, says: IN },
  { line: "GET /idpauth/session/", outcome: 200, says: IN },
  { line: "GET /idpauth", outcome: 200, says: "You are signed in" },
  { line: "GET /idpauth/debug", outcome: 200, says: '"policy"' },
  { line: "GET /idpauth/debug/", outcome: 200, says: '"policy"' },
  // Added and missing slashes.
  { line: "GET //idpauth//debug", outcome: 404 },
  { line: "GET //idpauth/session", outcome: 404 },
  { line: "GET ///idpauth/session", outcome: 404 },
  { line: "GET /idpauth//session", outcome: 404 },
  { line: "GET /idpauth/session//", outcome: 404 },
  { line: "GET /idpauth//", outcome: 404 },
  { line: "GET //idpauth/logout/", outcome: 404 },
  { line: "GET /idpauth//logout/", outcome: 404 },
  { line: "GET /idpauth/login-callback//?code=x&state=y", outcome: 404 },
  { line: "GET /idpauth/style.css/", outcome: 404 },
  // Letter case.
  { line: "GET /IDPAUTH/session", outcome: 404 },
  { line: "GET /Idpauth/logout/", outcome: 404 },
  { line: "GET /idpauth/SESSION", outcome: 404 },
  { line: "GET /idpauth/Logout/", outcome: 404 },
  { line: "GET /idpauth/Login-Callback?code=x&state=y", outcome: 404 },
  // Dots. Deno passes on an unparsed URL.
  { line: "GET /idpauth/./session", outcome: 404, parsed: [200, 404] },
  { line: "GET /idpauth/x/../session", outcome: 404, parsed: [200, 404] },
  { line: "GET /x/../idpauth/session", outcome: 404, parsed: [200, 404] },
  { line: "GET /idpauth/%2e/session", outcome: 404, parsed: [200, 404] },
  { line: "GET /x/%2e%2E/idpauth/session", outcome: 404, parsed: [200, 404] },
  { line: "GET /x/.%2e/idpauth/session", outcome: 404, parsed: [200, 404] },
  { line: "GET /idpauth/session/.", outcome: 404, parsed: [200, 404] },
  { line: "GET /idpauth/session/..", outcome: 404, parsed: [200, 404] },
  // Encoded letters and slashes.
  { line: "GET /idpauth/%64ebug", outcome: 404 },
  { line: "GET /%69dpauth/session", outcome: 404 },
  { line: "GET /idpauth/%6Cogout/", outcome: 404 },
  { line: "GET /idpauth/%256cogout/", outcome: 404 },
  { line: "GET /idpauth%2fsession", outcome: 404 },
  { line: "GET /idpauth%2Flogout%2F", outcome: 404 },
  { line: "GET /idpauth/%2fsession", outcome: 404 },
  { line: "GET /idpauth/session%2f", outcome: 404 },
  { line: "GET /idpauth%5csession", outcome: 404 },
  { line: "GET /idpauth/session%00", outcome: 404 },
  { line: "GET /idpauth/session%20", outcome: 404 },
  { line: "GET /idpauth/session%0d%0aX-Injected:%201", outcome: 404 },
  { line: "GET /idpauth/session%3Fdetails=true", outcome: 404 },
  // Invalid percent-encoding.
  { line: "GET /idpauth/%", outcome: BAD_ENCODING },
  { line: "GET /idpauth/%zz/session", outcome: BAD_ENCODING },
  { line: "GET /idpauth/%c0%ae%c0%ae/session", outcome: BAD_ENCODING },
  { line: "GET /idpauth/session%ff", outcome: BAD_ENCODING },
  { line: "GET /%/idpauth/session", outcome: BAD_ENCODING },
  // Characters that some parsers replace.
  { line: "GET /idpauth\\session", outcome: [400, 404], parsed: [200, 400, 404] },
  { line: "GET /idpauth/\\session", outcome: [400, 404] },
  { line: "GET /idpauth/session;x=1", outcome: 404 },
  { line: "GET /idpauth;x/session", outcome: 404 },
  { line: "GET /idpauth/session#part", outcome: [400, 404], parsed: [200, 400] },
  { line: "GET /idpauth/session\xff", outcome: [400, 404] },
  { line: `GET /idpauth/${"x".repeat(2_000)}`, outcome: [404, 414] },
  // Names of properties that every object has.
  { line: "GET /idpauth/__proto__", outcome: 404 },
  { line: "GET /idpauth/constructor", outcome: 404 },
  { line: "GET /idpauth/toString/", outcome: 404 },
  { line: "GET /idpauth/hasOwnProperty", outcome: 404 },
];

/**
 * Spellings of /reports, which is guarded. Frameworks differ in which of them reach the page; none
 * may let a user in.
 */
export const GUARDED_SPELLINGS: readonly string[] = [
  "/reports",
  "/reports/",
  "/reports//",
  "//reports",
  "/Reports",
  "/REPORTS",
  "/%72eports",
  "/reports%2f",
  "/reports%20",
  "/reports%00",
  "/reports?",
  "/reports;x=1",
  "/reports/.",
  "/./reports",
  "/x/../reports",
  "/x/%2e%2e/reports",
  "/\\reports",
  "/reports\\",
  "/reports%",
  "http://evil.example/reports",
  "/reports?/public",
  "/public/../reports",
  "/idpauth/../reports",
  "/idpauth/%2e%2e/reports",
];

export const TARGETS: readonly HostileRequest[] = [
  { line: "GET http://127.0.0.1:PORT/idpauth/session", outcome: 200, says: IN },
  { line: "GET http://evil.example/idpauth/session", outcome: 200, says: IN },
  // Some servers accept the scheme only in lower case.
  { line: "GET HTTP://EVIL.EXAMPLE/idpauth/session?details=true", outcome: [200, 400], says: IN },
  { line: "GET http://evil.example/reports", outcome: 200 },
  { line: "GET http://evil.example//idpauth/session", outcome: 404 },
  { line: "GET http://evil.example/IDPAUTH/session", outcome: 404 },
  { line: "GET http://evil.example/x?/idpauth/session", outcome: 404 },
  { line: "GET http://127.0.0.1:PORT/idpauth/nothing", outcome: 404 },
  { line: "GET ftp://evil.example/idpauth/session", outcome: [400, 404], parsed: [200, 400, 404] },
  { line: "GET idpauth/session", outcome: [400, 404], parsed: [200, 400, 404] },
  { line: "GET ?", outcome: [400, 404] },
  { line: "GET *", outcome: [400, 404] },
  { line: "OPTIONS *", outcome: [200, 204, 400, 404, 405] },
  { line: "GET /", outcome: 404 },
];

/** Some servers accept only a few methods. */
const UNKNOWN_METHOD = [400, 405, 501];
const ENDPOINTS = [
  "",
  "session",
  "login/",
  "logout/",
  "login-callback?code=x&state=y",
  "debug",
  "style.css",
];

export const METHODS: readonly HostileRequest[] = [
  ...["POST", "PUT", "PATCH", "DELETE", "OPTIONS"].flatMap((method) =>
    ENDPOINTS.map((endpoint): HostileRequest => ({
      line: `${method} /idpauth/${endpoint}`,
      // A login takes a form, and this request has none.
      outcome: method === "POST" && endpoint.startsWith("login/") ? 400 : 405,
    })),
  ),
  ...["TRACE", "PURGE", "QUERY", "PROPFIND", "M-SEARCH"].flatMap((method) =>
    ["session", "logout/"].map((endpoint): HostileRequest => ({
      line: `${method} /idpauth/${endpoint}`,
      outcome: 405,
      parsed: UNKNOWN_METHOD,
    })),
  ),
  ...["login/", "logout/", "login-callback?code=x&state=y"].map((endpoint): HostileRequest => ({
    line: `HEAD /idpauth/${endpoint}`,
    outcome: 405,
  })),
  { line: "HEAD /idpauth/session", outcome: 200 },
  // Bun closes the connection without a response.
  { line: "get /idpauth/logout/", outcome: UNKNOWN_METHOD, parsed: [0, ...UNKNOWN_METHOD] },
  { line: "FOO /idpauth/logout/", outcome: UNKNOWN_METHOD, parsed: [0, ...UNKNOWN_METHOD] },
  // No header changes the method.
  {
    line: "POST /idpauth/logout/",
    outcome: 405,
    headers: "Cookie: COOKIES\r\nX-HTTP-Method-Override: GET\r\nContent-Length: 0\r\n",
  },
];

export const QUERIES: readonly HostileRequest[] = [
  { line: "GET /idpauth/session?slide=%ff&details=%", outcome: 200, says: IN },
  { line: "GET /idpauth/session?details=true&details=true", outcome: 200, says: IN },
  {
    line: "GET /idpauth/session?details[]=true&details[a]=true&__proto__[details]=true",
    outcome: 200,
    says: IN,
  },
  { line: "GET /idpauth/session??details=true", outcome: 200, says: IN },
  { line: "GET /idpauth/session?&&=&=x&;", outcome: 200, says: IN },
  { line: "GET /idpauth/session?slide=\xff", outcome: [200, 400], says: IN },
  { line: `GET /idpauth/session?${"a&".repeat(1_000)}`, outcome: 200, says: IN },
  { line: `GET /idpauth/session?${"a=1&".repeat(3_500)}`, outcome: [200, 414, 431], says: IN },
  { line: "GET /idpauth/login/?scheme=%ff&response=%00", outcome: 400 },
  { line: "GET /idpauth/login/?scheme=%&response=json", outcome: 400 },
  { line: "GET /idpauth/login/?scheme=DEFAULT&scheme=DEFAULT", outcome: 400 },
  { line: "GET /idpauth/login/?scheme=DEFAULT&%73cheme=DEFAULT", outcome: 400 },
  { line: "GET /idpauth/login/?scheme", outcome: 400 },
  { line: "GET /idpauth/login/?scheme=DEFAULT;response=json", outcome: 400 },
  { line: "GET /idpauth/login/?scheme=constructor", outcome: 400 },
  { line: "GET /idpauth/login/?response=__proto__", outcome: 400 },
  {
    line: "GET /idpauth/login/?__proto__[scheme]=x&scheme[]=a&SCHEME=x&constructor.prototype.scheme=x",
    outcome: 302,
  },
  { line: "GET /idpauth/login-callback?state=%ff&code=%00", outcome: 400 },
  { line: "GET /idpauth/login-callback?code=x&state=__proto__", outcome: 400 },
  { line: "GET /idpauth/login-callback?code=x&state=a&state=a", outcome: 400 },
  { line: "GET /idpauth/login-callback?code[]=x&state[]=y", outcome: 400 },
  { line: "GET /idpauth/login-callback", outcome: 400 },
  { line: "GET /idpauth/logout/?response=%00", outcome: 400 },
  { line: "GET /idpauth/logout/?response=json&response=json", outcome: 400 },
  { line: "GET /idpauth/logout/?response=", outcome: 400 },
  { line: "GET /idpauth/?error=%ff%00<script>", outcome: [200, 400], says: "You are signed in" },
  {
    line: "GET /idpauth/?error=%3Cscript%3E&error=__proto__",
    outcome: 200,
    says: "You are signed in",
  },
];

const OTHERS =
  "idpauth=planted; idpauth=; idpauth.x=1; __Host-Http-idpauth=planted; __proto__=x; constructor=y";

export const HEADERS: readonly HostileRequest[] = [
  {
    line: "GET /idpauth/session",
    outcome: 200,
    says: IN,
    headers: "Cookie: COOKIES\r\nCookie: x=1\r\n",
  },
  {
    line: "GET /idpauth/session",
    outcome: 200,
    says: IN,
    headers: `Cookie: ${OTHERS}; COOKIES\r\n`,
  },
  {
    line: "GET /idpauth/session",
    outcome: 200,
    says: IN,
    headers: `Cookie: ;;; =; =x; a; COOKIES;;\r\n`,
  },
  { line: "GET /idpauth/session", outcome: 200, says: OUT, headers: `Cookie: ${OTHERS}\r\n` },
  {
    line: "GET /idpauth/session",
    outcome: 200,
    says: OUT,
    headers: `Cookie: idpauth="${"x".repeat(43)}"; idpauth=${"%41".repeat(15)}\r\n`,
  },
  {
    line: "GET /idpauth/session",
    outcome: 200,
    says: OUT,
    headers: `Cookie: idpauth=${"x".repeat(43)}\r\n`,
  },
  {
    line: "GET /idpauth/session",
    outcome: 200,
    says: OUT,
    headers: `Cookie: ${"idpauth=".repeat(1_000)}\r\n`,
  },
  {
    line: "GET /idpauth/session",
    outcome: [200, 400],
    says: OUT,
    headers: "Cookie: idpauth=\xff\xfe; \x80\r\n",
  },
  {
    line: "GET /idpauth/session",
    outcome: [200, 431],
    says: OUT,
    headers: `Cookie: ${"x".repeat(15_000)}\r\n`,
  },
  {
    line: "GET /idpauth/session",
    outcome: [200, 431],
    says: IN,
    headers: `Cookie: COOKIES\r\nX-Long: ${"x".repeat(15_000)}\r\n`,
  },
  {
    line: "GET /idpauth/session",
    outcome: [200, 413, 431],
    says: IN,
    headers: `Cookie: COOKIES\r\nX-Long: ${"x".repeat(20_000)}\r\n`,
  },
  {
    line: "GET /idpauth/session",
    outcome: [200, 400],
    says: IN,
    headers: "Cookie: COOKIES\r\nAuthorization: \xff\xfe Basic\r\n",
  },
  {
    line: "GET /idpauth/session",
    outcome: [200, 400],
    says: IN,
    headers:
      'Cookie: COOKIES\r\nAccept: text/html;q=x, */*;q=9, ,;;=,"\r\nSec-Fetch-Mode: \xe9\r\n',
  },
  {
    line: "GET /idpauth/nothing",
    outcome: 404,
    headers: `Accept: ${", ".repeat(4_000)}text/html\r\n`,
  },
  {
    line: "GET /idpauth/login/?scheme=EVIL",
    outcome: 400,
    headers: "Accept: text/html\r\nAccept: application/json\r\n",
  },
  {
    line: "GET /idpauth/login/",
    outcome: [302, 400],
    headers: "X-Origin-Url: \xe9\xff\tjavascript:alert(1)\r\n",
  },
  {
    line: "GET /idpauth/login/",
    outcome: 302,
    headers: "X-Forwarded-Host: evil.example\r\nX-Forwarded-Proto: https\r\n",
  },
  {
    line: "GET /idpauth/login/",
    outcome: 302,
    headers: "X-Original-URL: /idpauth/logout/\r\nX-Rewrite-URL: /idpauth/logout/\r\n",
  },
  {
    line: "GET /reports",
    outcome: 200,
    headers: `Cookie: ${OTHERS}; COOKIES\r\nX-Original-URL: /public\r\n`,
  },
];

/** Host values that give no origin. */
export const HOSTS = [
  "",
  "a b",
  "evil.example/x",
  "[::1",
  "\xe9",
  "x:99999",
  "a,b",
  "user@host",
  "evil.example?x",
  "a\\b",
  "<script>",
];
