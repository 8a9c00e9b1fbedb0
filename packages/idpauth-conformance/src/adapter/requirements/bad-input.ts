import assert from "node:assert/strict";
import type { ApplicationStarter, StartedApplication } from "../application-starter.js";
import { rawRequest, type RawResponse } from "../raw-request.js";
import {
  GUARDED_SPELLINGS,
  HEADERS,
  HOSTS,
  METHODS,
  QUERIES,
  SPELLINGS,
  TARGETS,
  type HostileRequest,
  type Outcome,
} from "./hostile-requests.js";
import type { AdapterRequirement } from "./requirement.js";
import { withinLimit } from "./time-limit.js";

const area = "bad input";

/** Text that must not appear in any response. */
const INSIDES =
  /node_modules|file:\/\/|\bat [^\n]*:\d+:\d+|[\\/](?:src|dist)[\\/][\w.-]+\.[cm]?[jt]s/;

export const badInputRequirements: readonly AdapterRequirement[] = [
  {
    area,
    title:
      "an endpoint has exactly one path: other slashes, letter case, encoding, dots or backslashes do not reach it",
    async check(starter) {
      await sameOutcomes(starter, SPELLINGS);
    },
  },
  {
    area,
    title: "outside debug mode the debug endpoint gets 404 for every spelling and method",
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      const cookie = browser.cookies.header(new URL(app.origin)) ?? "";
      for (const path of [
        "/debug",
        "/debug/",
        "/DEBUG",
        "/%64ebug",
        "//debug",
        "/./debug",
        "/debug?x=/",
        "/x/../debug",
        "/debug;",
      ]) {
        for (const method of ["GET", "POST", "DELETE", "OPTIONS"]) {
          const response = await send(app, `${method} /idpauth${path}`, `Cookie: ${cookie}\r\n`);
          assertOutcome(response, `${method} /idpauth${path}`, [404, ...ownResponses(starter)]);
        }
      }
      const head = await browser.get("/idpauth/debug", { method: "HEAD" });
      assert.deepEqual([head.status, head.text], [404, ""]);
    },
  },
  {
    area,
    title: "no spelling of a guarded path reaches its handler without a sign-in",
    async check(starter) {
      const app = await starter.start();
      for (const line of GUARDED_SPELLINGS) {
        for (const accept of ["text/html", "application/json"]) {
          const response = await send(app, `GET ${line}`, `Accept: ${accept}\r\n`);
          assertOutcome(response, line, [...REFUSED, ...ownResponses(starter)]);
        }
      }
      assert.deepEqual([...app.ran], [], "the protected handler ran");
      assertNoFailures(app);
    },
  },
  {
    area,
    title: "request targets in absolute form, without a slash or empty get the same outcome",
    async check(starter) {
      await sameOutcomes(starter, TARGETS);
    },
  },
  {
    area,
    title: "unexpected methods get 405 at every endpoint and have no effect",
    async check(starter) {
      await sameOutcomes(starter, METHODS);
    },
  },
  {
    area,
    title:
      "queries with repeated or odd names, bad percent-encoding, or a thousand parameters get the same outcome",
    async check(starter) {
      await sameOutcomes(starter, QUERIES);
    },
  },
  {
    area,
    title:
      "headers of sixteen kilobytes, hostile cookies and bytes outside ASCII get the same outcome, and no such cookie signs a user out",
    async check(starter) {
      await sameOutcomes(starter, HEADERS);
    },
  },
  {
    area,
    title: "an invalid Host gets 400 at the login and is ignored elsewhere",
    async check(starter) {
      const app = await starter.start();
      // An adapter that builds a URL from such a Host may read another path from it.
      const otherPath = starter.has("raw targets") ? [] : [404];
      for (const host of HOSTS) {
        const response = await sendRaw(
          app,
          `GET /idpauth/login/ HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
        );
        assertOutcome(response, `Host: ${host}`, [400, ...otherPath]);
        const probed = await sendRaw(app, `GET /idpauth/session HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
        // A server may refuse the request before the application gets it.
        assertOutcome(probed, `Host: ${host}`, [200, 400, ...otherPath]);
      }
      // A framework that needs a URL may use its own address.
      const ownAddress = starter.has("raw targets") ? [] : [302];
      for (const version of ["1.0", "1.1"]) {
        const response = await sendRaw(app, `GET /idpauth/login/ HTTP/${version}\r\n\r\n`);
        assertOutcome(response, `HTTP/${version} without Host`, [400, ...ownAddress, ...otherPath]);
      }
      assertNoFailures(app);
    },
  },
  {
    area,
    title: "two Host headers get 400 at the login, unless BASE_URL is set",
    async check(starter) {
      const app = await starter.start();
      const hosts = `Host: 127.0.0.1:${app.port}\r\nHost: evil.example\r\n`;
      const login = await sendRaw(app, `GET /idpauth/login/ HTTP/1.1\r\n${hosts}\r\n`);
      // A framework with parsed URLs has chosen the first header, as Node does.
      assertOutcome(login, "two Host headers", starter.has("raw targets") ? 400 : [400, 302]);
      assert.ok(!login.raw.includes("evil"), login.raw);
      const reversed = await sendRaw(
        app,
        `GET /idpauth/login/ HTTP/1.1\r\nHost: evil.example\r\nHost: 127.0.0.1:${app.port}\r\n\r\n`,
      );
      assertOutcome(
        reversed,
        "two Host headers, the other way round",
        starter.has("raw targets") ? 400 : [400, 302],
      );
      const blocked = await sendRaw(
        app,
        `GET /reports HTTP/1.1\r\n${hosts}Accept: text/html\r\n\r\n`,
      );
      assertOutcome(blocked, "two Host headers at a guarded page", [302, 400]);
      assert.ok(!blocked.raw.includes("evil"), blocked.raw);

      const settled = await starter.start({ options: { baseUrl: "https://app.example" } });
      const response = await sendRaw(
        settled,
        `GET /idpauth/login/?response=json HTTP/1.1\r\nHost: a.example\r\nHost: evil.example\r\n\r\n`,
      );
      assertOutcome(response, "two Host headers with BASE_URL", [200, 400]);
      if (response.status === 200)
        assert.ok(
          response.body.includes(encodeURIComponent("https://app.example/idpauth/")),
          response.body,
        );
      assertNoFailures(app);
    },
  },
];

/** The outcome for a signed-out user: refused, or the framework has no such page. */
const REFUSED: readonly number[] = [302, 400, 401, 404];

/** Statuses of a framework's own router: a corrected address, or a refused one. */
function ownResponses(starter: ApplicationStarter): readonly number[] {
  return starter.has("untouched requests") ? [] : [308, 400, 405, 500];
}

/**
 * Sends each request with a signed-in user's cookies, in debug mode, and checks that the user is
 * still signed in.
 */
async function sameOutcomes(
  starter: ApplicationStarter,
  requests: readonly HostileRequest[],
): Promise<void> {
  const app = await starter.start({ options: { debug: true } });
  const browser = await app.signedIn();
  const cookies = browser.cookies.header(new URL(app.origin)) ?? "";
  for (const {
    line,
    outcome,
    parsed = outcome,
    headers = "Cookie: COOKIES\r\n",
    says,
  } of requests) {
    const written = line.replaceAll("PORT", String(app.port));
    const response = await send(app, written, headers.replaceAll("COOKIES", cookies));
    const row = `${shortened(written)} ${shortened(headers)}`;
    assertOutcome(response, row, [
      ...[starter.has("raw targets") ? outcome : parsed].flat(),
      ...ownResponses(starter),
    ]);
    if (response.status >= 400)
      assert.ok(
        !response.body.includes('"authenticated"'),
        `${row}: an endpoint has answered ${response.body}`,
      );
    if (says !== undefined && response.status === 200)
      assert.ok(response.body.includes(says), `${row}: ${response.body}`);
  }
  assert.equal(
    (await browser.get("/idpauth/session")).json().authenticated,
    true,
    "one of them has signed out",
  );
  assertNoFailures(app);
}

function send(app: StartedApplication, line: string, headers: string): Promise<RawResponse> {
  return sendRaw(app, `${line} HTTP/1.1\r\nHost: 127.0.0.1:${app.port}\r\n${headers}\r\n`);
}

function sendRaw({ port }: StartedApplication, bytes: string): Promise<RawResponse> {
  return withinLimit(rawRequest(port, bytes), `no response to ${shortened(bytes)}`);
}

function assertOutcome(response: RawResponse, row: string, outcome: Outcome): void {
  assert.ok(
    [outcome].flat().includes(response.status),
    `${row}: ${response.status}, not ${String(outcome)}: ${shortened(response.body)}`,
  );
  assert.ok(!INSIDES.test(response.raw), `${row}: ${response.raw}`);
}

/** Checks that only bad requests, and no failures, reached the application's error handler. */
function assertNoFailures({ caught }: StartedApplication): void {
  const failures = caught.filter(
    (error) => ((error as { status?: number } | undefined)?.status ?? 500) >= 500,
  );
  assert.deepEqual(failures, []);
}

function shortened(text: string): string {
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}
