import { afterEach, describe, expect, expectTypeOf, it } from "vitest";
import {
  idpAuth,
  toResponse,
  WebRequest,
  type GuardResponses,
} from "../../src/adapters/fetch/fetch.js";
import {
  ConfigurationError,
  type Blocked,
  type Credentials,
  type IdpAuthOptions,
} from "../../src/index.js";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";
import { UNREACHED } from "../support/options-for.js";

const SETTINGS: IdpAuthOptions = { ...UNREACHED, log: false };

const page = (path = "/reports") =>
  new Request(`http://app.example${path}`, { headers: { accept: "text/html" } });
const call = (path = "/reports") =>
  new Request(`http://app.example${path}`, { headers: { accept: "application/json" } });

let provider: TestProvider | undefined;
afterEach(async () => {
  await provider?.stop();
  provider = undefined;
});

describe("types", () => {
  it("infer what the server hands over with the request, without a cast", () => {
    interface Info {
      readonly remoteAddr: string;
    }
    const auth = idpAuth(SETTINGS);
    const plain = auth.idpRequired(() => new Response("inside"));
    expectTypeOf(plain).toEqualTypeOf<(request: Request) => Promise<Response>>();
    const informed = auth.idpRequired(async (request, info: Info, more: number) => {
      expectTypeOf(request).toEqualTypeOf<Request>();
      expectTypeOf(await auth.getCredentials(request)).toEqualTypeOf<Credentials | null>();
      return Response.json({ info, more });
    });
    expectTypeOf(informed).toEqualTypeOf<
      (request: Request, info: Info, more: number) => Promise<Response>
    >();
    expectTypeOf(auth.fetch).returns.toEqualTypeOf<Promise<Response> | undefined>();
    expectTypeOf(auth.guard).returns.toEqualTypeOf<Promise<Response | undefined>>();
    auth.idpRequiredWith({
      unauthenticated(request, blocked) {
        expectTypeOf(request).toEqualTypeOf<Request>();
        expectTypeOf(blocked).toEqualTypeOf<Blocked<"unauthenticated">>();
        return Response.json({});
      },
      unavailable(_request, blocked) {
        expectTypeOf(blocked).toEqualTypeOf<Blocked<"unavailable">>();
        return Response.json({});
      },
    });
    // @ts-expect-error -- an answer that gives none would let everybody in
    auth.idpRequiredWith({ navigation: () => undefined });
  });
});

describe("startup checks", () => {
  it("start() throws all configuration errors at once, and otherwise returns the warnings", () => {
    expect(() => idpAuth({ ...SETTINGS, secretKey: "", clientId: "" }).start()).toThrow(
      /E001[^]*E003/,
    );
    expect(() => idpAuth({ ...SETTINGS, session: "host" }).start()).toThrow(
      /E002.*a fetch-style server has no sessions/,
    );
    expect(
      idpAuth(SETTINGS)
        .start()
        .map(({ code }) => code),
    ).toContain("E004");
  });

  it("without start() the first request finds them, and nobody gets in", async () => {
    const auth = idpAuth({ ...SETTINGS, secretKey: "" });
    let ran = 0;
    const guarded = auth.idpRequired(() => new Response(String((ran += 1))));
    await expect((async () => auth.fetch(call("/idpauth/session")))()).rejects.toThrow(
      ConfigurationError,
    );
    await expect(auth.guard(call())).rejects.toThrow(ConfigurationError);
    await expect(guarded(call())).rejects.toThrow(ConfigurationError);
    await expect(auth.getSession(call())).rejects.toThrow(ConfigurationError);
    expect(ran).toBe(0);
  });
});

describe("fetch", () => {
  it("gives undefined at once, not a promise, for a path that is not ours", () => {
    const auth = idpAuth(SETTINGS);
    for (const path of ["/", "/reports", "/idpauthx", "/x/idpauth/"])
      expect(auth.fetch(call(path)), path).toBeUndefined();
  });

  it("works without its object, as an argument", async () => {
    const { fetch } = idpAuth(SETTINGS);
    expect(await (await fetch(call("/idpauth/session")))?.json()).toEqual({
      authenticated: false,
      user: null,
    });
  });

  it("responds to HEAD without a body, and with the length that it would have", async () => {
    const auth = idpAuth(SETTINGS);
    for (const path of ["/idpauth/", "/idpauth/session", "/idpauth/style.css"]) {
      const get = await auth.fetch(call(path));
      const head = await auth.fetch(
        new Request(`http://app.example${path}`, {
          method: "HEAD",
          headers: { accept: "application/json" },
        }),
      );
      expect([head?.status, head?.body]).toEqual([200, null]);
      expect(Number(head?.headers.get("content-length")), path).toBe(
        (await get?.arrayBuffer())?.byteLength,
      );
    }
  });
});

describe("the guard", () => {
  it("as a call gives the response for a request that must not pass", async () => {
    const auth = idpAuth(SETTINGS);
    const [navigation, script] = [await auth.guard(page("/reports?a=1")), await auth.guard(call())];
    expect([navigation?.status, script?.status]).toEqual([302, 401]);
    expect(navigation?.headers.get("location")).toContain(
      encodeURIComponent("http://app.example/reports?a=1"),
    );
    const own = await auth.guard(page(), {
      navigation: (_request, { reason }) => Response.json({ reason }, { status: 418 }),
    });
    expect([own?.status, await own?.json()]).toEqual([418, { reason: "no_credentials" }]);
  });

  it("as a call and as a wrapper lets nobody in for a response function that returns nothing", async () => {
    const auth = idpAuth(SETTINGS);
    const answers = {
      navigation: () => undefined,
      unauthenticated: () => Promise.resolve(null),
    } as unknown as GuardResponses;
    let ran = 0;
    const guarded = auth.idpRequiredWith(answers)(() => new Response(String((ran += 1))));
    for (const request of [page(), call()]) {
      await expect(auth.guard(request, answers)).rejects.toThrow(/didn't return a Response/);
      await expect(guarded(request)).rejects.toThrow(/didn't return a Response/);
    }
    expect(ran).toBe(0);
  });

  it("lets a user through, hands everything on, and passes on what the handler throws", async () => {
    provider = await startTestProvider();
    const { clientId, clientSecret, issuer } = provider;
    const auth = idpAuth({ ...SETTINGS, clientId, clientSecret, issuer });
    const cookie = await signIn(auth.fetch, provider);
    const request = new Request("http://app.example/reports", { headers: { cookie } });
    expect(await auth.guard(request)).toBeUndefined();
    const answer = await auth.idpRequired((given, one: string, two: number) =>
      Response.json([given === request, one, two]),
    )(request, "one", 2);
    expect(await answer.json()).toEqual([true, "one", 2]);
    const failing = auth.idpRequired(() => {
      throw new RangeError("the handler's own");
    });
    await expect(failing(request)).rejects.toThrow(RangeError);
  });
});

/** Gives the Cookie header of somebody who has signed in. */
async function signIn(
  fetch: (request: Request) => Promise<Response> | undefined,
  by: TestProvider,
): Promise<string> {
  const login = await fetch(page("/idpauth/login/"));
  const callback = await by.signInCode(login?.headers.get("location") ?? "");
  const answer = await fetch(new Request(callback, { headers: { cookie: cookieOf(login) } }));
  expect(answer?.status).toBe(302);
  return cookieOf(answer);
}

const cookieOf = (answer: Response | undefined) =>
  answer?.headers.getSetCookie()[0]?.split(";", 1)[0] ?? "";

describe("WebRequest", () => {
  /** A Request whose URL is whatever a server has made of the request line. */
  const of = (url: string, headers: Record<string, string> = {}) =>
    new WebRequest(
      Object.defineProperty(new Request("http://unknown", { headers }), "url", { value: url }),
    );

  it.each([
    ["http://app.example/a?b=c", "/a?b=c"],
    ["http://app.example/", "/"],
    ["http://app.example", "/"],
    ["http://app.example/a?to=http://x/y", "/a?to=http://x/y"],
    ["http://app.example//a", "//a"],
    ["http://app.example/a#b?c", "/a"],
    // Bun, where the Host header is no host name.
    ["/a?to=http://x/y", "/a?to=http://x/y"],
  ])("%s has the target %s", (url, target) => {
    expect(of(url).target).toBe(target);
  });

  it.each([
    ["http://app.example:8080/a", {}, "app.example:8080"],
    ["http://app.example/a", { host: "internal:3000" }, "app.example"],
    ["http://[::1]:80/a", { host: "[::1]" }, "[::1]:80"],
    // Nobody knows what a server makes of these.
    ["http://app.example/a", { host: "app.example, evil.example" }, undefined],
    ["http://evil.example/a", { host: "evil.example/x" }, undefined],
    ["http://evil.example/a", { host: "user@evil.example" }, undefined],
    ["http://localhost:3000/a", { host: "" }, undefined],
    ["/a", { host: "a b" }, undefined],
    ["/a", {}, undefined],
  ])("%s with %j has the hostname %s", (url, headers, host) => {
    expect(of(url, headers as Record<string, string>).host).toBe(host);
  });
});

describe("toResponse", () => {
  it("writes each cookie as a line of its own", () => {
    const response = toResponse({
      status: 302,
      headers: { Location: "/" },
      setCookies: ["a=1; Path=/", "b=2; Path=/"],
    });
    expect(response.headers.getSetCookie()).toEqual(["a=1; Path=/", "b=2; Path=/"]);
    expect([response.status, response.headers.get("location"), response.body]).toEqual([
      302,
      "/",
      null,
    ]);
  });
});
