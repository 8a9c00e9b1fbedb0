import { EventHub } from "../../src/events/event-hub.js";
import { beforeEach, describe, expect, it } from "vitest";
import { ProviderUnavailableError } from "../../src/errors.js";
import { createOpenIdProvider } from "../../src/provider/openid-provider.js";
import { allowsHttp } from "../../src/provider/provider-metadata.js";
import type { ProviderSettings } from "../../src/config/setting-table.js";
import type { Fault } from "../../src/testing/provider/test-provider.js";
import { TestClock } from "../../src/testing/test-clock.js";
import {
  NONCE,
  REDIRECT_URI,
  rejection,
  startRig,
  unavailable,
  VERIFIER,
  type Rig,
} from "./rig.js";
import { rig, shareRig } from "./shared-rig.js";

shareRig();

const fetches = () => rig.idp.requestsTo("discovery").length;

describe("[ASVS-10.5.1] the discovery document", () => {
  it.each([[true], [false]])(
    "reports the issuer and whether it sends iss (%s)",
    async (announceIss) => {
      rig.idp.settings.announceIss = announceIss;
      expect(await rig.provider.facts()).toEqual({
        issuer: rig.idp.issuer,
        sendsIss: announceIss,
        cancelled: "access_denied",
      });
    },
  );

  it("is not fetched before it is needed, then once for many", async () => {
    expect(fetches()).toBe(0);
    await Promise.all(Array.from({ length: 10 }, () => rig.provider.facts()));
    await rig.provider.facts();
    expect(fetches()).toBe(1);
  });

  it("is fetched first and once, and every request of a sign-in goes to an address in it", async () => {
    const { issuer } = rig.idp;
    const paths = ["authorize", "token", "userinfo", "jwks"];
    const moved = (name: string) => `${issuer}/elsewhere/${name}`;
    const requested: string[] = [];
    const provider = rig.settingsWith({}, (input, init) => {
      const url = input as string;
      requested.push(url);
      return fetch(url.replace("/elsewhere/", "/"), init);
    });
    rig.idp.settings.claimsInIdToken = false;
    rig.idp.discoveryDocument = (document) =>
      Object.fromEntries(
        Object.entries(document).map(([name, value]) => [
          name,
          paths.find((path) => value === `${issuer}/${path}`) === undefined
            ? value
            : (value as string).replace(issuer, `${issuer}/elsewhere`),
        ]),
      );
    const request = { redirectUri: REDIRECT_URI, state: "s", nonce: NONCE, verifier: VERIFIER };
    const { url } = await provider.authorizationUrl(request);
    expect(url.split("?")[0]).toBe(moved("authorize"));
    const location = await rig.idp.signInCode(url.replace("/elsewhere/", "/"));
    const code = new URL(location).searchParams.get("code") ?? "";
    const { idInfo } = await provider.exchange({ ...request, code });
    expect(idInfo.email).toBe("ada@example.com");
    expect(requested).toEqual([
      `${issuer}/.well-known/openid-configuration`,
      ...["token", "jwks", "userinfo"].map(moved),
    ]);
  });

  it("is fetched again in the background when it is older than an hour; nobody waits", async () => {
    await rig.provider.facts();
    rig.clock.advance(3600_000);
    const hold = rig.idp.hold("discovery");
    await rig.provider.facts();
    await hold.arrived;
    await rig.provider.facts();
    expect(fetches()).toBe(2);
    hold.release();
  });

  it("serves on while the provider is down, however long", async () => {
    await rig.provider.facts();
    rig.idp.fault("discovery", { kind: "status", status: 503 });
    for (let day = 0; day < 3; day++) {
      rig.clock.advance(24 * 3600_000);
      await expect(rig.provider.facts()).resolves.toBeDefined();
    }
  });

  it("a wrong one never replaces a good one", async () => {
    await rig.provider.facts();
    rig.idp.discoveryDocument = () => ({ issuer: "https://evil.example" });
    rig.clock.advance(3600_000);
    const before = rig.logged.length;
    await rig.provider.facts();
    await expect.poll(() => rig.logged.length).toBeGreaterThan(before);
    expect(await rig.provider.facts()).toMatchObject({ issuer: rig.idp.issuer });
  });

  const outage = (fault: Fault, reason: string): [string, Fault, string] => [reason, fault, reason];
  it.each([
    outage({ kind: "status", status: 500 }, "http_500"),
    outage({ kind: "status", status: 429 }, "http_429"),
    outage({ kind: "garbage" }, "not_json"),
    outage({ kind: "wrong-type", body: "<html>" }, "not_json"),
    outage({ kind: "reset" }, "network"),
    outage({ kind: "oversized" }, "too_large"),
  ])("outage: %s, and this process backs off", async (_name, fault, reason) => {
    rig.idp.fault("discovery", { ...fault, times: 1 });
    expect(await rejection(rig.provider.facts())).toBe(unavailable(reason));
    expect(await rejection(rig.provider.facts())).toBe(unavailable("backing_off"));
    expect(fetches()).toBe(1);
    rig.clock.advance(1000);
    await expect(rig.provider.facts()).resolves.toBeDefined();
  });

  it("no response within IDP_HTTP_TIMEOUT: outage", async () => {
    const hold = rig.idp.hold("discovery");
    const facts = rejection(rig.provider.facts());
    await hold.arrived;
    rig.clock.advance(5000);
    expect(await facts).toBe(unavailable("timeout"));
    hold.release();
  });

  it.each([
    ["another issuer", { issuer: "https://evil.example" }, "issuer_mismatch"],
    ["a trailing slash too much", { issuer: "SLASH" }, "issuer_mismatch"],
    ["no issuer", { issuer: undefined }, "issuer_mismatch"],
    ["no token endpoint", { token_endpoint: undefined }, "discovery_endpoint"],
    ["no authorization endpoint", { authorization_endpoint: "" }, "discovery_endpoint"],
    ["no keys", { jwks_uri: 1 }, "discovery_endpoint"],
    ["a relative address", { jwks_uri: "/jwks" }, "discovery_endpoint"],
    [
      "an address that no request can reach",
      { token_endpoint: "file:///etc/passwd" },
      "discovery_endpoint",
    ],
    [
      "an address with user info",
      { token_endpoint: "https://a:b@idp.example/" },
      "discovery_endpoint",
    ],
  ])("operator's error, loud in the log: %s", async (_name, changes, reason) => {
    const changed =
      "issuer" in changes && changes.issuer === "SLASH"
        ? { issuer: `${rig.idp.issuer}/` }
        : changes;
    rig.idp.discoveryDocument = (document) => ({ ...document, ...changed });
    expect(await rejection(rig.provider.facts())).toBe(unavailable(reason));
    expect(rig.logged).toEqual([expect.objectContaining({ level: "error" })]);
  });

  it("operator's error: a redirect elsewhere, with status and target in the log", async () => {
    rig.idp.fault("discovery", {
      kind: "redirect",
      status: 301,
      location: "https://elsewhere.example/x",
    });
    expect(await rejection(rig.provider.facts())).toBe(unavailable("redirect"));
    expect(rig.logged).toEqual([
      expect.objectContaining({
        level: "error",
        code: "provider_misconfigured",
        message: expect.stringContaining(
          'redirects (301) to "https://elsewhere.example/x"',
        ) as string,
      }),
    ]);
    expect(rig.idp.requestsTo("unknown")).toHaveLength(0);
  });

  it("both issuers stand in the log exactly, and one line reports an error until the provider works again", async () => {
    rig.idp.discoveryDocument = (document) => ({ ...document, issuer: `${rig.idp.issuer}/` });
    for (let round = 0; round < 3; round += 1) {
      await expect(rig.provider.facts()).rejects.toMatchObject({
        code: "provider_misconfigured",
        status: 503,
        retryAfter: 60,
      });
      rig.clock.advance(60_000);
    }
    expect(rig.logged.map(({ message }) => message)).toEqual([
      `The issuer in the discovery document is "${rig.idp.issuer}/", but IDP_ISSUER is "${rig.idp.issuer}". Both must be exactly equal.`,
    ]);
    rig.idp.discoveryDocument = undefined;
    await rig.provider.facts();
    rig.idp.discoveryDocument = (document) => ({ ...document, issuer: `${rig.idp.issuer}/` });
    rig.clock.advance(3600_000);
    await rig.provider.facts();
    await expect.poll(() => rig.logged.length).toBe(2);
  });

  it("during the back-off after an error, the error still says that sign-in is not set up correctly", async () => {
    rig.idp.fault("discovery", { kind: "status", status: 404 });
    await rejection(rig.provider.facts());
    await expect(rig.provider.facts()).rejects.toMatchObject({
      code: "provider_misconfigured",
      reason: "backing_off",
    });
  });

  it.each(["/", ""])(
    "one redirect that only adds or removes a trailing slash is followed (to a path that ends with %j)",
    async (end) => {
      const redirects: string[] = [];
      const fetchBy: typeof fetch = (input, init) => {
        const url = input as string;
        if (!url.includes(".well-known")) return fetch(url, init);
        redirects.push(url);
        // A provider that serves the document under the other spelling only.
        const other = url.endsWith("/") ? url.slice(0, -1) : `${url}/`;
        const target = end === "/" ? `${url.replace(/\/$/, "")}/` : other;
        if (redirects.length === 1)
          return Promise.resolve(
            new Response(null, { status: 301, headers: { location: target } }),
          );
        return fetch(url.replace(/\/$/, ""), init);
      };
      await expect(rig.settingsWith({}, fetchBy).facts()).resolves.toMatchObject({
        issuer: rig.idp.issuer,
      });
      expect(redirects).toHaveLength(2);
    },
  );

  it("a second redirect is not followed", async () => {
    let requests = 0;
    const fetchBy: typeof fetch = (input) => {
      requests += 1;
      const url = input as string;
      const location = url.endsWith("/") ? url.slice(0, -1) : `${url}/`;
      return Promise.resolve(new Response(null, { status: 302, headers: { location } }));
    };
    expect(await rejection(rig.settingsWith({}, fetchBy).facts())).toBe(unavailable("redirect"));
    expect(requests).toBe(2);
  });

  it("IDP_PROVIDER_METADATA overrides and completes single endpoints", async () => {
    rig.idp.discoveryDocument = ({ token_endpoint: _gone, ...document }) => ({
      ...document,
      jwks_uri: "https://127.0.0.1:1/",
    });
    const providerMetadata = {
      token_endpoint: `${rig.idp.issuer}/token`,
      jwks_uri: `${rig.idp.issuer}/jwks`,
    };
    await expect(rig.exchange(rig.settingsWith({ providerMetadata }))).resolves.toBeDefined();
  });

  describe("at IDP_DISCOVERY_URL", () => {
    const INTERNAL = "http://keycloak:8080";
    const discoveryUrl = `${INTERNAL}/realms/shop/.well-known/openid-configuration?p=x`;
    let addresses: string[];

    beforeEach(() => {
      addresses = [];
    });

    /** Reaches the provider at every address. */
    const fetchBy: typeof fetch = (input, init) => {
      addresses.push(input as string);
      const path = new URL(input).pathname.replace("/realms/shop", "");
      return fetch(rig.idp.issuer + path, init);
    };
    const internal = (changes: Parameters<Rig["settingsWith"]>[0] = {}) =>
      rig.settingsWith({ discoveryUrl, ...changes }, fetchBy);
    const answers = (changes: Readonly<Record<string, unknown>>) => {
      rig.idp.discoveryDocument = (document) => ({ ...document, ...changes });
    };

    it("is fetched there only, and its endpoints are used as they are, unencrypted at the same origin", async () => {
      answers({ token_endpoint: `${INTERNAL}/token`, jwks_uri: `${INTERNAL}/jwks` });
      const provider = internal();
      await expect(rig.exchange(provider)).resolves.toMatchObject({
        idInfo: { iss: rig.idp.issuer },
      });
      expect(addresses.slice(0, 3)).toEqual([
        discoveryUrl,
        `${INTERNAL}/token`,
        `${INTERNAL}/jwks`,
      ]);
    });

    it("must have IDP_ISSUER as its issuer", async () => {
      answers({ issuer: INTERNAL });
      expect(await rejection(internal().facts())).toBe(unavailable("issuer_mismatch"));
    });

    it.each([
      ["token_endpoint", "http://keycloak:8081/token"],
      ["token_endpoint", "http://keycloak/token"],
      ["jwks_uri", "http://login.example/jwks"],
      // The browser opens it.
      ["authorization_endpoint", `${INTERNAL}/authorize`],
    ])("has no usable %s at %s, which isn't encrypted", async (name, address) => {
      answers({ [name]: address });
      expect(await rejection(internal().facts())).toBe(unavailable("discovery_endpoint"));
    });

    it("gives way to IDP_PROVIDER_METADATA", async () => {
      answers({ token_endpoint: undefined });
      const provider = internal({ providerMetadata: { token_endpoint: `${INTERNAL}/token` } });
      await expect(rig.exchange(provider)).resolves.toBeDefined();
      expect(addresses).toContain(`${INTERNAL}/token`);
    });

    it.each<[string, Fault]>([
      ["isn't there", { kind: "status", status: 404 }],
      ["redirects", { kind: "redirect", location: "https://login.example/" }],
    ])("is what the log names if it %s", async (_name, fault) => {
      rig.idp.fault("discovery", fault);
      await rejection(internal().facts());
      expect(rig.logged[0]?.message).toMatch(/document of IDP_DISCOVERY_URL .* IDP_DISCOVERY_URL /);
    });
  });

  it("operator's error: there is no such document", async () => {
    rig.idp.fault("discovery", { kind: "status", status: 404 });
    expect(await rejection(rig.provider.facts())).toBe(unavailable("http_404"));
    expect(rig.logged).toEqual([expect.objectContaining({ level: "error" })]);
  });

  it("an issuer with a path, or with a trailing slash, is found where the standard says", async () => {
    for (const issuerPath of ["/tenant", "/tenant/", "/"]) {
      const other = await startRig({ issuerPath });
      expect(await other.provider.facts()).toMatchObject({ issuer: other.idp.issuer });
      await other.idp.stop();
    }
  });
});

describe("[START-3] http", () => {
  it.each([
    ["http://127.0.0.1:9000", false, true],
    ["http://localhost", false, true],
    ["http://idp.example", false, false],
    ["http://idp.example", true, true],
    ["https://idp.example", false, false],
  ])("to %s (debug mode: %s) is allowed: %s", (issuer, debug, expected) => {
    expect(allowsHttp({ issuer, debug })).toBe(expected);
  });

  /**
   * A client of a provider on this machine whose document names an address elsewhere, and whom it
   * asks; the network leads back.
   */
  function elsewhere(name: string, debug: boolean) {
    const asked: string[] = [];
    rig.idp.settings.claimsInIdToken = false;
    rig.idp.discoveryDocument = (document) => ({
      ...document,
      [name]: (document[name] as string).replace("127.0.0.1", "192.0.2.1"),
    });
    const provider = rig.settingsWith({ debug }, (input, init) => {
      const url = new URL(input);
      asked.push(url.hostname);
      url.hostname = "127.0.0.1";
      return fetch(url, init);
    });
    return { provider, asked };
  }

  it.each(["authorization_endpoint", "token_endpoint", "jwks_uri"])(
    "a provider on this machine may not send us elsewhere: %s",
    async (name) => {
      expect(await rejection(elsewhere(name, false).provider.facts())).toBe(
        unavailable("discovery_endpoint"),
      );
      await expect(elsewhere(name, true).provider.facts()).resolves.toBeDefined();
    },
  );

  it.each(["userinfo_endpoint", "revocation_endpoint"])(
    "what can be done without is not requested elsewhere: %s",
    async (name) => {
      for (const debug of [false, true]) {
        const { provider, asked } = elsewhere(name, debug);
        const { credentials } = await rig.exchange(provider);
        await provider.revoke(credentials.token, "access_token");
        expect(asked.includes("192.0.2.1")).toBe(debug);
      }
    },
  );

  it("a provider on this machine may send us to it by another of its names", async () => {
    const { port } = new URL(rig.idp.issuer);
    rig.idp.discoveryDocument = (document) => ({
      ...document,
      token_endpoint: `http://localhost:${port}/token`,
    });
    await expect(rig.exchange()).resolves.toBeDefined();
  });

  it.each(["authorization_endpoint", "token_endpoint", "jwks_uri"])(
    "an https provider may not send us to http: %s",
    async (name) => {
      const document: Record<string, unknown> = {
        issuer: "https://idp.example",
        authorization_endpoint: "https://idp.example/a",
        token_endpoint: "https://idp.example/t",
        jwks_uri: "https://idp.example/j",
      };
      const provider = (changes: object) =>
        createOpenIdProvider({
          settings: {
            issuer: "https://idp.example",
            clientId: "c",
            clientSecret: "s",
            httpTimeout: 5,
            debug: false,
            providerMetadata: {},
            discoveryUrl: null,
            clientCertificate: null,
          } as unknown as ProviderSettings,
          clock: new TestClock(),
          events: new EventHub(() => undefined, new TestClock()),
          fetch: () => Promise.resolve(Response.json({ ...document, ...changes })),
        });
      await expect(provider({}).facts()).resolves.toEqual({
        issuer: "https://idp.example",
        sendsIss: false,
        cancelled: "access_denied",
      });
      await expect(provider({ [name]: "http://idp.example/x" }).facts()).rejects.toBeInstanceOf(
        ProviderUnavailableError,
      );
    },
  );
});
