import assert from "node:assert/strict";
import { TestClock } from "idpauth/testing";
import type { ApplicationStarter, StageOptions } from "../application-starter.js";
import { WatchedStore } from "../watched-store.js";
import { assertRedirect, ownCookies, probe, SIGNED_IN, SIGNED_OUT } from "./assertions.js";
import type { AdapterRequirement } from "./requirement.js";

const HTTPS = "https://app.example";
const DAY_SECONDS = 86_400;
const COOKIE_LIFE_SECONDS = 400 * DAY_SECONDS;

/** Returns the attributes without the value, sorted and in lower case. */
function attributesOf(line: string): { name: string; attributes: string[] } {
  const [pair = "", ...attributes] = line.split(";").map((part) => part.trim());
  return {
    name: pair.slice(0, pair.indexOf("=")),
    attributes: attributes.map((attribute) => attribute.toLowerCase()).sort(),
  };
}

const attributes = (maxAge: number, secure: boolean) =>
  [
    "httponly",
    `max-age=${String(maxAge)}`,
    "path=/",
    "samesite=lax",
    ...(secure ? ["secure"] : []),
  ].sort();

/** Signs in, probes and signs out at `origin`, and checks every cookie for these attributes. */
async function checkCookie(
  starter: ApplicationStarter,
  {
    start = {},
    origin,
    name,
    maxAge = COOKIE_LIFE_SECONDS,
  }: { start?: StageOptions; origin?: string; name: string; maxAge?: number },
): Promise<void> {
  const app = await starter.start(start);
  const at = origin ?? app.origin;
  const secure = at.startsWith("https:");
  const browser = app.browser({
    origin: at,
    ...(origin !== undefined && { proxied: { [origin]: app.port } }),
  });
  const login = await browser.navigate("/idpauth/login/");
  const done = await browser.navigate(await app.provider.signInCode(login.location ?? ""));
  for (const response of [login, done]) {
    assert.deepEqual(response.setCookies.map(attributesOf), [
      { name, attributes: attributes(maxAge, secure) },
    ]);
    assert.match(response.setCookies[0] ?? "", new RegExp(`^${name}=[A-Za-z0-9_-]{43};`));
  }
  assert.deepEqual(await probe(browser), SIGNED_IN);
  const out = await browser.navigate("/idpauth/logout/");
  assert.deepEqual(out.setCookies.map(attributesOf), [{ name, attributes: attributes(0, secure) }]);
  assert.equal(out.setCookies[0]?.startsWith(`${name}=;`), true, "the cookie still has a value");
  assert.deepEqual(browser.cookies.all(), []);
}

export const cookieRequirements: readonly AdapterRequirement[] = [
  {
    area: "cookie",
    title:
      "over http the cookie is idpauth with HttpOnly, SameSite=Lax, Path=/ and Max-Age; a logout clears it with the same attributes",
    session: "bundled",
    check: (starter) => checkCookie(starter, { name: "idpauth" }),
  },
  {
    area: "cookie",
    title: "behind a trusted proxy that ends TLS the cookie is __Host-Http-idpauth with Secure",
    session: "bundled",
    check(starter) {
      const start = starter.has("own trust-proxy setting")
        ? { trustsProxy: true }
        : { options: { trustProxy: true } };
      return checkCookie(starter, { start, origin: HTTPS, name: "__Host-Http-idpauth" });
    },
  },
  {
    area: "cookie",
    title:
      "a cookie of the same name from another path or subdomain does not hide the session's cookie",
    session: "bundled",
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      const own = `idpauth=${browser.cookies.value("idpauth") ?? ""}`;
      const planted = `idpauth=${"A".repeat(43)}`;
      for (const cookie of [
        `${planted}; ${own}`,
        `idpauth=; idpauth="x"; ${own}; ${planted}`,
        `a=b; xidpauth=y;${own};idpauth2=z`,
      ]) {
        assert.deepEqual(
          (await browser.get("/idpauth/session", { headers: { cookie } })).json(),
          SIGNED_IN,
          cookie,
        );
        assert.equal((await browser.get("/reports", { headers: { cookie } })).status, 200, cookie);
      }
    },
  },
  {
    area: "cookie",
    title: "a request without a session gets no cookie and reads nothing from the store",
    session: "bundled",
    async check(starter) {
      const clock = new TestClock();
      const store = new WatchedStore(clock);
      const app = await starter.start({ clock, options: { store, debug: true } });
      const browser = app.browser();
      for (const target of [
        "/idpauth/",
        "/idpauth/session",
        "/idpauth/debug",
        "/idpauth/logout/?response=json",
        "/idpauth/login/?scheme=x",
        "/idpauth/login-callback?code=x&state=y",
        "/idpauth/nothing",
        "/reports",
        "/public",
      ]) {
        assert.deepEqual((await browser.navigate(target)).setCookies, [], target);
      }
      assert.deepEqual(store.operations, []);
    },
  },
  {
    area: "cookie",
    title:
      "a sign-in gives the session a new key; the key from before is worthless (session fixation)",
    async check(starter) {
      const app = await starter.start();
      const thief = app.browser();
      const prepared = await app.approved(thief);
      // The attacker plants its cookie in the victim's browser.
      const victim = app.copyOf(thief);
      await app.signedIn(victim);
      assert.deepEqual([await probe(victim), await probe(thief)], [SIGNED_IN, SIGNED_OUT]);
      assert.equal((await thief.navigate(prepared)).status, 400);
      const values = (browser: typeof thief) => browser.cookies.all().map(({ value }) => value);
      assert.deepEqual(
        values(victim).filter((value) => values(thief).includes(value)),
        [],
      );
      // The same happens at another sign-in.
      const old = app.copyOf(victim);
      const response = await victim.navigate(await app.approved(victim));
      assertRedirect(response, "/idpauth/");
      if (starter.session === "bundled") assert.equal(ownCookies(response).length, 1);
      assert.deepEqual([await probe(victim), await probe(old)], [SIGNED_IN, SIGNED_OUT]);
    },
  },
];
