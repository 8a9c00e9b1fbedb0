import assert from "node:assert/strict";
import {
  ApiTokenError,
  ConfigurationError,
  IdpAuthError,
  ProviderUnavailableError,
  SessionMissingError,
} from "idpauth";
import type { ApplicationRoute } from "../adapter-under-test.js";
import type { ApplicationStarter, StageOptions } from "../application-starter.js";
import {
  ACCEPTS_JSON,
  assertHeaders,
  assertPage,
  assertProblem,
  assertRetryAfter,
  SAYS_SCRIPT,
} from "./assertions.js";
import type { AdapterRequirement } from "./requirement.js";

const area = "errors";

/**
 * The ways in which a handler fails: it throws, rejects at once, or rejects after it has read the
 * user.
 */
const FAILURES: readonly (readonly [
  path: string,
  guarded: boolean,
  fail: (error: Error, ask: () => Promise<unknown>) => unknown,
])[] = [
  [
    "/throws",
    true,
    (error) => {
      throw error;
    },
  ],
  ["/rejects", true, (error) => Promise.reject(error)],
  [
    "/rejects-later",
    true,
    async (error, ask) => {
      await ask();
      throw error;
    },
  ],
  [
    "/unguarded",
    false,
    async (error, ask) => {
      await ask();
      throw error;
    },
  ],
];

const SECRET = "a-secret-of-the-error";

/** Errors of idpauth that a handler may let through. None is a mistake in the application's code. */
const UNCAUGHT: readonly IdpAuthError[] = [
  new IdpAuthError("api_unreachable", SECRET, { cause: new Error(SECRET) }),
  new IdpAuthError("login_required", SECRET),
  new ApiTokenError("api_token_missing", "orders", "no_refresh_token"),
  new ProviderUnavailableError("timeout", { retryAfter: 7 }),
];

export const errorRequirements: readonly AdapterRequirement[] = [
  {
    area,
    title:
      "an error that a handler throws or rejects with reaches the application's error handler once, as the same object",
    async check(starter) {
      const errors = FAILURES.map(([path], index) =>
        Object.assign(new Error(`failed at ${path}`), index % 2 === 0 ? { status: 422 } : {}),
      );
      const routes = FAILURES.map(([path, guarded, fail], index): ApplicationRoute => ({
        kind: "json",
        method: "GET",
        path,
        ...(guarded && { guard: { mount: 0 } }),
        respond: ([auth], raw) => fail(errors[index]!, async () => auth?.getSession(raw)),
      }));
      const app = await starter.start({ routes });
      const browser = await app.signedIn();
      for (const [index, [path]] of FAILURES.entries()) {
        const response = await browser.get(path, { headers: ACCEPTS_JSON });
        assert.deepEqual(
          [response.status, response.json()],
          [index % 2 === 0 ? 422 : 500, { caught: `failed at ${path}` }],
        );
        assert.equal(
          app.caught[index],
          errors[index],
          "it is another error than the one that was thrown",
        );
      }
      assert.equal(app.caught.length, FAILURES.length);
      assert.equal((await browser.get("/idpauth/session")).json().authenticated, true);
    },
  },
  {
    area,
    title:
      "an error of idpauth that the application does not catch becomes its status, with a page for a navigation and a problem document for a script",
    async check(starter) {
      const routes = UNCAUGHT.map((error): ApplicationRoute => ({
        kind: "json",
        method: "GET",
        path: `/${error.code}`,
        guard: { mount: 0 },
        // They describe a body that is not sent.
        headers: { "content-language": "tlh", etag: '"unsent"', location: "/unsent" },
        respond: () => Promise.reject(error),
      }));
      const app = await starter.start({ routes, handlesErrors: false });
      const browser = await app.signedIn();
      for (const { code, status } of UNCAUGHT) {
        const page = await browser.navigate(`/${code}`);
        assertPage(page, status, code);
        const script = await browser.get(`/${code}`, { headers: ACCEPTS_JSON });
        assertProblem(script, status, code);
        for (const response of [page, script]) {
          const { headers, text } = response;
          assertHeaders(response, code);
          assert.ok(!text.includes(SECRET), text);
          assert.ok(!/tlh|unsent/.test(JSON.stringify(headers)), JSON.stringify(headers));
          assert.equal(headers["retry-after"], status === 503 ? "7" : undefined);
        }
      }
      assert.deepEqual(app.caught, []);
    },
  },
  {
    area,
    title:
      "a response of idpauth, also a refusal or an outage, does not reach the application's error handler",
    async check(starter) {
      const app = await starter.start();
      const browser = app.browser();
      assertProblem(
        await browser.get("/idpauth/login/?scheme=EVIL", { headers: SAYS_SCRIPT }),
        400,
        "invalid_parameter",
      );
      assertProblem(
        await browser.get("/idpauth/login-callback?state=x&code=y", { headers: ACCEPTS_JSON }),
        400,
        "login_link_invalid",
      );
      assertProblem(await browser.get("/idpauth/nothing"), 404, "not_found");
      assertProblem(
        await browser.get("/idpauth/session", { method: "POST" }),
        405,
        "method_not_allowed",
      );
      assert.equal((await browser.get("/reports")).status, 401);
      app.provider.fault("discovery", { kind: "status", status: 500 });
      assertRetryAfter(await browser.get("/idpauth/login/", { headers: SAYS_SCRIPT }));
      assert.deepEqual(app.caught, []);
    },
  },
  {
    area,
    title:
      "configuration errors keep the application from starting, and one error reports all of them",
    async check(starter) {
      const misspelled = { cookieNam: "x" };
      const findings = await refusal(starter, {
        options: {
          secretKey: "",
          clientId: undefined,
          scope: ["email"],
          issuer: "http://id.example",
          ...misspelled,
        },
      });
      for (const code of ["E001", "E003", "E005", "E008", "E010"])
        assert.ok(findings.includes(code), `${code} is not told: ${findings.join()}`);
    },
  },
  {
    area,
    title: "an empty secret key keeps the application from starting, also on the second mount",
    async check(starter) {
      assert.deepEqual(errorsOf(await refusal(starter, { options: { secretKey: "" } })), ["E001"]);
      const second = { mountPath: "/partners/idpauth/", secretKey: " " };
      assert.deepEqual(errorsOf(await refusal(starter, { options: [{}, second] })), ["E001"]);
    },
  },
  {
    area,
    title:
      "the framework's own sessions without its session middleware are refused at the start, or every request gets 503",
    session: "bundled",
    async check(starter) {
      const outcome = await starter
        .start({ options: { session: "host" } })
        .catch((error: unknown) => error);
      if (outcome instanceof Error) {
        assert.ok(outcome instanceof ConfigurationError, String(outcome));
        assert.ok(codesOf(outcome).includes("E002"), codesOf(outcome).join());
        return;
      }
      const app = outcome as Awaited<ReturnType<ApplicationStarter["start"]>>;
      assert.ok(
        app.log.some(({ code }) => code === "W008"),
        "neither E002 nor W008 is told",
      );
      for (const path of [
        "/idpauth/",
        "/idpauth/login/?response=json",
        "/idpauth/login-callback?state=x&code=y",
        "/idpauth/logout/?response=json",
        "/reports",
      ]) {
        assertProblem(
          await app.browser().get(path, { headers: ACCEPTS_JSON }),
          503,
          "session_missing",
        );
      }
      assertRetryAfter(await app.browser().get("/idpauth/session"));
      assert.ok(app.caught.every((error) => error instanceof SessionMissingError));
    },
  },
  {
    area,
    title: "the framework's own sessions get a warning about their weaker guarantees (W006)",
    session: "host",
    async check(starter) {
      const app = await starter.start();
      assert.equal(app.log.filter(({ code }) => code === "W006").length, 1);
      assert.ok(
        !app.log.some(({ code }) => code === "E002" || code === "W008" || code === "W005"),
        JSON.stringify(app.log),
      );
    },
  },
];

/** Returns the codes of the findings that keep the application from starting. */
async function refusal(
  starter: ApplicationStarter,
  options: StageOptions,
): Promise<readonly string[]> {
  const error: unknown = await starter.start(options).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error !== undefined, "the application has started");
  assert.ok(
    error instanceof ConfigurationError,
    `the application did not start for another reason: ${error instanceof Error ? error.message : typeof error}`,
  );
  assert.equal(error.code, "configuration_invalid");
  for (const code of errorsOf(codesOf(error)))
    assert.ok(error.message.includes(code), `the message does not name ${code}: ${error.message}`);
  return codesOf(error);
}

const codesOf = ({ findings }: ConfigurationError): readonly string[] =>
  findings.map(({ code }) => code);

function errorsOf(codes: readonly string[]): readonly string[] {
  return codes.filter((code) => code.startsWith("E"));
}
