import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isRedirectSetting, redirectSettingInAscii } from "../../src/http/redirects.js";
import { MAX_ORIGIN_URL_LENGTH, sameOriginUrl } from "../../src/http/same-origin-url.js";
import { fitsHeader, redirectCorpus } from "../support/redirect-corpus.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { startApplication, OWN_ORIGIN, type Application } from "../support/application.js";
import { watchedStore, type WatchedStore } from "../support/watched-store.js";
import { AUTHORIZATION_PARAMETERS } from "../support/authorization-parameters.js";

const OWN_ORIGINS = [
  "http://app.example",
  "https://app.example",
  "https://app.example:8443",
  "http://127.0.0.1",
  "http://127.0.0.1:3000",
  "http://[::1]:3000",
  "http://localhost",
  "http://localhost:3000",
  "https://xn--caf-dma.example",
];

/** A browser, on a page of somebody else. */
function whatwg(value: string): string | undefined {
  try {
    const url = new URL(value, "https://elsewhere.example/");
    return url.username === "" && url.password === "" ? url.origin : undefined;
  } catch {
    return undefined;
  }
}

/**
 * RFC 3986 appendix B. Knows no backslash, drops nothing, and finds something in whatever it is
 * given.
 */
function rfc3986(value: string): string | undefined {
  const [, scheme, authority] =
    /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s.exec(value) ?? [];
  return authority === undefined || authority.includes("@")
    ? undefined
    : `${scheme ?? ""}://${authority}`;
}

/**
 * As urlsplit of Python's library: strips, drops line breaks and tabs, lowers the scheme, and takes
 * `@` for the end of user info.
 */
function urlsplit(value: string): string | undefined {
  const text = value.replace(/^[\u0000-\u0020]+/, "").replace(/[\t\r\n]/g, "");
  const colon = text.indexOf(":");
  const scheme =
    colon > 0 && /^[a-z][a-z0-9+.-]*$/i.test(text.slice(0, colon))
      ? text.slice(0, colon).toLowerCase()
      : "";
  const rest = scheme === "" ? text : text.slice(colon + 1);
  if (!rest.startsWith("//")) return undefined;
  const ends = ["/", "?", "#"].map((mark) => rest.indexOf(mark, 2)).filter((at) => at >= 0);
  const netloc = rest.slice(2, ends.length === 0 ? undefined : Math.min(...ends));
  return netloc.includes("@") ? undefined : `${scheme}://${netloc}`;
}

const PARSERS = { whatwg, rfc3986, urlsplit };

describe.each(OWN_ORIGINS)("[BCP-1] the redirect corpus at %s", (own) => {
  const corpus = redirectCorpus(own);

  it("is large, has nothing twice, and expects both results", () => {
    expect(corpus.length).toBeGreaterThanOrEqual(300);
    expect(new Set(corpus.map(({ value }) => value)).size).toBe(corpus.length);
    expect(corpus.filter(({ location }) => location !== null).length).toBeGreaterThanOrEqual(75);
    expect(corpus.filter(({ value }) => fitsHeader(value)).length).toBeGreaterThanOrEqual(250);
  });

  it("the rule decides each value as the corpus demands", () => {
    for (const { group, value, location } of corpus) {
      expect(sameOriginUrl(value, own) ?? null, `${group}: ${JSON.stringify(value)}`).toBe(
        location,
      );
    }
  });

  it("[INC-15] differential: what is accepted, a browser, RFC 3986 and urlsplit all put on our own origin; and its Location too", () => {
    for (const { value, location } of corpus) {
      if (sameOriginUrl(value, own) === undefined || location === null) continue;
      for (const text of [value, location]) {
        for (const [name, parse] of Object.entries(PARSERS))
          expect(parse(text), `${name}: ${text}`).toBe(own);
      }
      // Visible ASCII: no server and no proxy on the way can end the line early or spell it anew.
      expect(location).toMatch(/^[\x21-\x7e]+$/);
    }
  });

  it("[INC-15] the parsers do disagree about values of the corpus, and none of those is accepted", () => {
    const disputed = corpus.filter(({ value }) => {
      const home = Object.values(PARSERS).map((parse) => parse(value) === own);
      return home.includes(true) && home.includes(false);
    });
    expect(disputed.length).toBeGreaterThanOrEqual(15);
    for (const { value } of disputed) expect(sameOriginUrl(value, own), value).toBeUndefined();
  });

  it("as an operator's setting a value is refused, or a path that stays here, or an address that names its origin", () => {
    let paths = 0;
    for (const { value } of corpus) {
      if (!isRedirectSetting(value)) continue;
      const setting = redirectSettingInAscii(value);
      expect(setting).toMatch(/^[\x21-\x7e]+$/);
      if (value.startsWith("/")) {
        paths += 1;
        expect(new URL(setting, `${own}/idpauth/login-callback`).origin, value).toBe(own);
      } else {
        expect(value, value).toMatch(/^https?:\/\/[^/?#\\\s]/i);
      }
    }
    expect(paths).toBeGreaterThanOrEqual(5);
  });
});

describe("[BCP-1] the redirect corpus needs an origin as browsers write it", () => {
  it.each([
    "https://app.example/",
    "https://APP.example",
    "http://app.example:80",
    "ftp://app.example",
    "null",
  ])("not %s", (origin) => {
    expect(() => redirectCorpus(origin)).toThrow(TypeError);
  });
});

describe("[BCP-1] a value that grows on its way", () => {
  it.each(["\u3042", "\uffff", "\u{1f600}", '"'])(
    "of %j is kept by the length that Location has",
    (character) => {
      const grown = encodeURIComponent(character).length;
      const most = Math.floor((MAX_ORIGIN_URL_LENGTH - `${OWN_ORIGIN}/`.length) / grown);
      const longest = `${OWN_ORIGIN}/${character.repeat(most)}`;
      expect(sameOriginUrl(longest, OWN_ORIGIN)).toBe(
        `${OWN_ORIGIN}/${encodeURIComponent(character).repeat(most)}`,
      );
      expect(sameOriginUrl(longest + character, OWN_ORIGIN)).toBeUndefined();
    },
  );
});

describe("[BCP-1] [ASVS-3.7.2] the redirect corpus through every way in", () => {
  const corpus = redirectCorpus(OWN_ORIGIN);
  let application: Application;
  let store: WatchedStore;

  beforeAll(async () => {
    const clock = new TestClock();
    store = watchedStore(clock);
    // All sign-ins are at one moment. Beyond the maximum, the newest of them could end.
    application = await startApplication({ clock, store, sessionsPerUser: 0 });
  });
  afterAll(() => application.stop());

  /** Where the login that this request begins will lead. */
  async function destination(
    target: string,
    headers: Readonly<Record<string, string>> = {},
    auth = application.auth,
  ): Promise<string | undefined> {
    const user = application.user().at(auth);
    const answer = await user.get(target, { headers });
    const url = new URL(
      answer.status === 302
        ? answer.location
        : (answer.json() as { redirect_to: string }).redirect_to,
    );
    expect([...url.searchParams.keys()].sort()).toEqual(AUTHORIZATION_PARAMETERS);
    expect(url.searchParams.get("redirect_uri")).toBe(`${OWN_ORIGIN}/idpauth/login-callback`);
    expect(url.searchParams.get("scope")).toBe("openid email profile offline_access");
    return (await auth.readSessionRecord(user.request("/")))?.["final_redirect"] as
      string | undefined;
  }

  /** Where the browser ends after the login that this request begins. */
  async function end(
    target: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const user = application.user();
    const answer = await user.get(target, { headers });
    const login =
      answer.status === 302
        ? answer.location
        : (answer.json() as { redirect_to: string }).redirect_to;
    const callback = new URL(await application.provider.signInCode(login));
    const back = await user.get(callback.pathname + callback.search);
    expect([back.status, back.body]).toEqual([302, undefined]);
    return back.location;
  }

  const query = (value: string, more: Readonly<Record<string, string>>) =>
    `/idpauth/login/?${new URLSearchParams({ origin_url: value, ...more }).toString()}`;

  it.each([
    ["[INC-2] the parameter, answered with a redirect", { scheme: "PRESERVE_ORIGIN_QP" }],
    ["[INC-2] the parameter, answered as JSON", { scheme: "PRESERVE_ORIGIN_QP", response: "json" }],
  ])("%s", async (_name, more) => {
    for (const { value, location } of corpus)
      expect(await destination(query(value, more)), value).toBe(location ?? "/idpauth/");
  });

  it("[INC-2] the header, with a JSON response", async () => {
    for (const { value, location } of corpus) {
      const target = "/idpauth/login/?scheme=PRESERVE_ORIGIN_HP&response=json";
      expect(await destination(target, { "x-origin-url": value }), value).toBe(
        location ?? "/idpauth/",
      );
    }
  });

  it.each<[place: string, login: (value: string) => Promise<string>, values: typeof corpus]>([
    ["the parameter", (value) => end(query(value, { scheme: "PRESERVE_ORIGIN_QP" })), corpus],
    [
      "the header",
      (value) =>
        end("/idpauth/login/?scheme=PRESERVE_ORIGIN_HP&response=json", { "x-origin-url": value }),
      // The login stores the same address for both, as the tests above show for each value.
      corpus.filter((_, index) => index % 10 === 0),
    ],
  ])("[INC-2] %s redirects where it must after the callback", async (_place, login, values) => {
    const ends = await Promise.all(values.map(async ({ value }) => [value, await login(value)]));
    expect(ends).toEqual(values.map(({ value, location }) => [value, location ?? "/idpauth/"]));
  });

  it.each([
    {},
    { scheme: "DEFAULT" },
    { scheme: "LANDING_PAGE" },
    { scheme: "PRESERVE_ORIGIN_HP", response: "json" },
  ])("a parameter that %j does not read has no effect", async (more) => {
    for (const { value } of corpus)
      expect(await destination(query(value, more)), value).toBe("/idpauth/");
  });

  it.each(["/start", "https://www.app.example/start?x=1#top"])(
    "a value that is not kept redirects to the setting, %s",
    async (setting) => {
      const auth = application.another({ authFinalRedirectUrl: setting });
      for (const { value, location } of corpus) {
        expect(
          await destination(query(value, { scheme: "PRESERVE_ORIGIN_QP" }), {}, auth),
          value,
        ).toBe(location ?? setting);
      }
    },
  );

  it("a value that is not encoded ends at its first `&`, and what follows reaches nobody", async () => {
    const injected =
      "&scope=admin&redirect_uri=https://evil.example/cb&state=evil&nonce=evil&response_type=token&prompt=none";
    const target = `/idpauth/login/?scheme=PRESERVE_ORIGIN_QP&origin_url=${OWN_ORIGIN}/x${injected}`;
    expect(await destination(target)).toBe(`${OWN_ORIGIN}/x`);
  });

  it("[INC-6] any of them as the request's own target is guarded, and redirects back to our own origin", async () => {
    for (const target of [
      "//evil.example/x",
      "/\\evil.example",
      "\\\\evil.example",
      ...corpus.map(({ value }) => value),
    ]) {
      const user = application.user();
      const blocked = await application.auth.guard(
        user.request(target, { headers: { accept: "text/html" } }),
      );
      expect(blocked?.kind, target).toBe("navigation");
      const login = blocked?.reply.headers["Location"] ?? "";
      expect(login, target).toMatch(/^\/idpauth\/login\/\?[\x21-\x7e]*$/);
      const end = await destination(login);
      expect(new URL(end ?? "", `${OWN_ORIGIN}/idpauth/login-callback`).origin, target).toBe(
        OWN_ORIGIN,
      );
    }
  });

  it("[INC-3] one user sends all that is malformed; each gets a response, nothing piles up, and the next login works", async () => {
    const user = application.user();
    await user.get("/idpauth/login/");
    const kept = async () => [
      (await store.entries()).length,
      application.provider.requestsTo("discovery").length,
    ];
    const before = await kept();
    for (const { value } of corpus.filter(({ location }) => location === null)) {
      expect((await user.get(query(value, { scheme: "PRESERVE_ORIGIN_QP" }))).status).toBe(302);
    }
    expect(await kept()).toEqual(before);
    const page = `${OWN_ORIGIN}/reports`;
    expect((await user.signIn(query(page, { scheme: "PRESERVE_ORIGIN_QP" }))).location).toBe(page);
    expect(await user.isSignedIn()).toBe(true);
  });
});
