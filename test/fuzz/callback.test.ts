import fc from "fast-check";
import { expect } from "vitest";
import { createIdpAuth } from "../../src/adapter.js";
import type { IdpRequest, LogEntry } from "../../src/index.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { TestUser } from "../support/application.js";
import { fuzz } from "./fuzz.js";
import { CLIENT_ID, CLIENT_SECRET, ISSUER, MemoryProvider, SECRETS } from "./memory-provider.js";
import { edited, textEdit } from "./mutations.js";

const SECRET_KEY = "sk-5b0c1a77 a secret key of at least 32 bytes";

const parameter = fc.record({
  kind: fc.constantFrom("drop", "repeat", "empty", "edit", "rename", "foreign", "encode", "add" as const),
  at: fc.nat(),
  edit: textEdit(["state=", "code=", "&", "%26", "error=access_denied", "iss="]),
  name: fc.constantFrom("state", "code", "iss", "error", "error_description", "STATE", "state[]", "__proto__", "access_token", "id_token", "response"),
  value: fc.oneof(fc.constantFrom("", "access_denied", ISSUER, "https://evil.example", "evil", "\u0000", '"><script>evil'), fc.string({ unit: "binary", maxLength: 12 })),
}); // prettier-ignore

type Parameter = typeof parameter extends fc.Arbitrary<infer Value> ? Value : never;

/** Parts of a query, as they are written. */
function changed(
  parts: readonly string[],
  { kind, at, edit, name, value }: Parameter,
  foreign: string,
): string[] {
  const place = at % Math.max(1, parts.length);
  const here = parts[place] ?? "";
  const key = here.split("=")[0] ?? "";
  const added = `${name}=${encodeURIComponent(value.toWellFormed())}`;
  const replaced: Readonly<Record<Parameter["kind"], readonly string[]>> = {
    drop: [],
    repeat: [here, here],
    empty: [`${key}=`],
    edit: [edited(here, edit)],
    rename: [`${name}=${here.split("=")[1] ?? ""}`],
    foreign: [`state=${foreign}`],
    encode: [here.replace(/[a-z]/i, (letter) => `%${letter.charCodeAt(0).toString(16)}`)],
    add: [here, added],
  };
  return [...parts.slice(0, place), ...replaced[kind], ...parts.slice(place + 1)];
}

fuzz({
  id: "FUZZ-3",
  target: "callback query",
  runs: 200,
  property: fc.asyncProperty(
    fc.array(parameter, { maxLength: 4 }),
    fc.boolean(),
    async (changes, isSignedIn) => {
      const clock = new TestClock();
      const idp = new MemoryProvider(clock);
      const log: LogEntry[] = [];
      const auth = createIdpAuth<IdpRequest>(
        {
          env: {},
          secretKey: SECRET_KEY,
          clientId: CLIENT_ID,
          clientSecret: CLIENT_SECRET,
          issuer: ISSUER,
          clock,
          fetch: idp.fetch,
          log: (entry) => log.push(entry),
        },
        { name: "plain", request: (raw) => raw },
      );
      auth.start();
      const user = (): TestUser => new TestUser(auth, undefined as never, clock);
      const login = async (who: TestUser) =>
        new URL((await who.get("/idpauth/login/")).location).searchParams;
      const [victim, stranger] = [user(), user()];
      if (isSignedIn) {
        const first = await login(victim);
        idp.nonce = first.get("nonce") ?? "";
        await victim.get(
          `/idpauth/login-callback?state=${first.get("state") ?? ""}&code=first&iss=${encodeURIComponent(ISSUER)}`,
        );
        expect(await victim.isSignedIn()).toBe(true);
      }
      const [own, foreign] = [await login(victim), await login(stranger)];
      const state = own.get("state") ?? "";
      idp.nonce = own.get("nonce") ?? "";
      idp.tokenRequests = 0;
      const parts = changes.reduce(
        (all, each) => changed(all, each, foreign.get("state") ?? ""),
        [`state=${state}`, "code=a-code", `iss=${encodeURIComponent(ISSUER)}`],
      );
      const query = parts.join("&");

      const answer = await victim.get(`/idpauth/login-callback?${query}`);
      const sent = new URLSearchParams(query);
      const once = (name: string) =>
        sent.getAll(name).length === 1 ? (sent.get(name) ?? "") : undefined;
      const isOurs = once("state") === state;
      const errors = sent.getAll("error").filter((error) => error !== "");
      // RFC 6749 appendix A.11: printable ASCII, of a length that fits a URL.
      const hasCode = /^[\x20-\x7e]{1,8192}$/.test(once("code") ?? "");
      const isGood =
        isOurs &&
        once("iss") === ISSUER &&
        hasCode &&
        errors.length === 0 &&
        sent.getAll("error").length < 2;
      // The whole rule: exactly such a query asks for tokens, once, and signs in; any other asks
      // for none.
      expect(idp.tokenRequests, query).toBe(isGood ? 1 : 0);
      expect(await victim.isSignedIn(), query).toBe(isSignedIn || isGood);
      expect(await stranger.isSignedIn()).toBe(false);
      const isRefusal =
        isOurs &&
        once("iss") === ISSUER &&
        errors.length === 1 &&
        sent.getAll("error").length === 1 &&
        sent.getAll("code").length < 2;
      if (isGood) expect([answer.status, answer.location]).toEqual([302, "/idpauth/"]);
      else if (isRefusal) expect(answer.location, query).toMatch(/^\/idpauth\/\?error=[a-z_]+$/);
      else expect(answer.status, query).toBe(400);
      // Whatever it was, a known state is used up, and an unknown one has cost nothing.
      const again = await victim.get(
        `/idpauth/login-callback?state=${state}&code=again&iss=${encodeURIComponent(ISSUER)}`,
      );
      expect(again.status, query).toBe(isOurs && !isSignedIn && !isGood ? 400 : 302);
      expect(idp.tokenRequests, query).toBe(isGood || !isOurs ? 1 : 0);

      for (const line of [...Object.values(answer.headers), ...(answer.setCookies ?? [])])
        expect(line).toMatch(/^[\x20-\x7e]*$/);
      expect(`${answer.location}${answer.body ?? ""}`).not.toMatch(/evil|"><script/i);
      const said = JSON.stringify(log) + (answer.body ?? "");
      for (const secret of [...SECRETS, SECRET_KEY, state, idp.nonce])
        expect(said).not.toContain(secret);
    },
  ),
});
