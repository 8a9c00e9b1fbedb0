import fc from "fast-check";
import { afterAll, beforeAll, expect } from "vitest";
import { cookieValues, hasCookie } from "../../src/sessions/cookie.js";
import { startApplication, type Application, type TestUser } from "../support/application.js";
import { fuzz } from "./fuzz.js";
import { mutatedText } from "./mutations.js";

const NAME = "idpauth";
const GOOD = "A".repeat(43);
const OTHER = "b-_9".repeat(10) + "xyz";

const piece = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(NAME, `${NAME}=`, GOOD, OTHER, `${NAME}=${GOOD}`, `${NAME}=${OTHER}`, "; ", ";", " ", "=", "x=1") },
  { weight: 2, arbitrary: fc.constantFrom(`; ${NAME}=${GOOD}; `, `; ${NAME}=${OTHER}; `) },
  { weight: 2, arbitrary: fc.constantFrom(`__Host-${NAME}=${GOOD}`, `x${NAME}=${GOOD}`, `${NAME}x=${GOOD}`, `"${GOOD}"`, ",", "\t", "\u0000", "%3d", `${GOOD}A`, "é") },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 8 }) },
); // prettier-ignore

const header = fc.oneof(
  fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join("")),
  mutatedText(`theme=dark; ${NAME}=${GOOD}; lang=en; ${NAME}=${OTHER}`, [
    NAME,
    `${NAME}=${OTHER}`,
    ";",
    "; ",
    "=",
  ]),
);

/** RFC 6265 section 5.4 the other way round, in the plainest words there are. */
function plainly(text: string): string[] {
  const values: string[] = [];
  for (const part of text.split(";")) {
    const trimmed = part.replace(/^ +/, "");
    if (trimmed.startsWith(`${NAME}=`)) values.push(trimmed.slice(NAME.length + 1).trimEnd());
  }
  return values;
}

/** What counts of it: values of the cookie's own form, four at the most. */
function lookedUp(text: string): string[] {
  return plainly(text)
    .filter((value) => /^[A-Za-z0-9_-]{43}$/.test(value))
    .slice(0, 4);
}

fuzz({
  id: "FUZZ-1",
  target: "cookie header",
  runs: 2_000,
  property: fc.property(header, (text) => {
    expect(cookieValues(text, NAME)).toEqual(lookedUp(text));
    expect(hasCookie(text, NAME)).toBe(plainly(text).length > 0);
  }),
});

const STATUS: Readonly<Record<string, number>> = {
  session: 200,
  "session?details=true": 200,
  "": 200,
  debug: 404,
  "login-callback?code=a&state=b": 400,
};

let application: Application;
let user: TestUser;
/**
 * How often the header held the user's own cookie, or not: a run in which one never happens shows
 * nothing.
 */
const seen = { own: 0, other: 0 };
beforeAll(async () => {
  application = await startApplication();
  user = application.user();
  await user.signIn();
});
afterAll(async () => {
  await application.stop();
  if (seen.own + seen.other < 200) return;
  expect(seen.own).toBeGreaterThan(20);
  expect(seen.other).toBeGreaterThan(20);
});

fuzz({
  id: "FUZZ-2",
  target: "cookie header at the endpoints",
  runs: 500,
  property: fc.asyncProperty(
    header,
    fc.constantFrom(...Object.keys(STATUS)),
    async (text, endpoint) => {
      const own = user.cookies.get(NAME) ?? "";
      expect(own).toMatch(/^[A-Za-z0-9_-]{43}$/);
      const cookie = text.replaceAll(GOOD, own);
      const isOwn = lookedUp(cookie).includes(own);
      seen[isOwn ? "own" : "other"] += 1;
      const headers = { cookie };
      const { auth } = application;
      const answer = await application.user().get(`/idpauth/${endpoint}`, { headers });
      expect(answer.status).toBe(STATUS[endpoint]);
      expect(answer.setCookies ?? []).toEqual([]);
      if (endpoint.startsWith("session"))
        expect((answer.json() as { authenticated: boolean }).authenticated).toBe(isOwn);
      if (endpoint === "") expect((answer.body ?? "").includes("ada@example.com")).toBe(isOwn);
      // Nothing of the header comes back: neither cookie, nor anything that was sent with them.
      const said = JSON.stringify([answer.headers, answer.body]);
      for (const value of [own, OTHER, ...plainly(cookie).filter((sent) => sent.length > 8)])
        expect(said).not.toContain(value);
      expect((await auth.getSession(user.request("/", { headers })))?.user.email).toBe(
        isOwn ? "ada@example.com" : undefined,
      );
      expect(await auth.checkIdpAuthentication(user.request("/", { headers }))).toBe(isOwn);
      expect((await auth.guard(user.request("/", { headers }))) === undefined).toBe(isOwn);
    },
  ),
});
