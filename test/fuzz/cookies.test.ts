import fc from "fast-check";
import { afterAll, beforeAll, expect } from "vitest";
import { cookieValues, hasCookie } from "../../src/sessions/cookie.js";
import { startApplication, type Application, type Visitor } from "../support/application.js";
import { fuzz } from "./fuzz.js";
import { mutatedText } from "./mutations.js";

const NAME = "idpauth";
const GOOD = "A".repeat(43);
const OTHER = "b-_9".repeat(10) + "xyz";

const piece = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(NAME, `${NAME}=`, GOOD, OTHER, `${NAME}=${GOOD}`, `${NAME}=${OTHER}`, "; ", ";", " ", "=", "x=1") },
  { weight: 2, arbitrary: fc.constantFrom(`__Host-${NAME}=${GOOD}`, `x${NAME}=${GOOD}`, `${NAME}x=${GOOD}`, `"${GOOD}"`, ",", "\t", "\u0000", "%3d", `${GOOD}A`, "é") },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 8 }) },
); // prettier-ignore

const header = fc.oneof(
  fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join("")),
  mutatedText(`theme=dark; ${NAME}=${GOOD}; lang=en; ${NAME}=${OTHER}`, [NAME, `${NAME}=${OTHER}`, ";", "; ", "="]),
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

fuzz(
  "cookie header",
  2_000,
  fc.property(header, (text) => {
    const values = cookieValues(text, NAME);
    expect(values).toEqual(
      plainly(text)
        .filter((value) => /^[A-Za-z0-9_-]{43}$/.test(value))
        .slice(0, 4),
    );
    expect(hasCookie(text, NAME)).toBe(plainly(text).length > 0);
  }),
);

const STATUS: Readonly<Record<string, number>> = {
  session: 200,
  "session?details=true": 200,
  "": 200,
  debug: 404,
  "login-callback?code=a&state=b": 400,
};

let application: Application;
let visitor: Visitor;
beforeAll(async () => {
  application = await startApplication();
  visitor = application.visitor();
  await visitor.signIn();
});
afterAll(() => application.stop());

fuzz(
  "cookie header at the endpoints",
  200,
  fc.asyncProperty(header, fc.constantFrom(...Object.keys(STATUS)), async (text, endpoint) => {
    const own = visitor.cookies.get(NAME) ?? "";
    const sent = text.replaceAll(GOOD, own);
    const answer = await application.visitor().get(`/idpauth/${endpoint}`, { headers: { cookie: sent } });
    expect(answer.status).toBe(STATUS[endpoint]);
    expect(answer.setCookies ?? []).toEqual([]);
    const isOwn = cookieValues(sent, NAME).includes(own);
    if (endpoint.startsWith("session")) expect((answer.json() as { authenticated: boolean }).authenticated).toBe(isOwn);
    if (endpoint === "") expect((answer.body ?? "").includes("ada@example.com")).toBe(isOwn);
    expect(JSON.stringify([answer.headers, answer.body])).not.toContain(own);
  }),
);
