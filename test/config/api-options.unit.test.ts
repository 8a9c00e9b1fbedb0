import { describe, expect, it, vi } from "vitest";
import { readApis } from "../../src/config/api-options.js";

const URL_OK = { url: "https://orders.internal/v2/" };
/** One provider without a key. */
const ONE = [{ key: undefined, settings: { scope: ["openid", "email"] } }];
const codes = (option: unknown, providers: Parameters<typeof readApis>[1] = ONE) =>
  readApis(option, providers).findings.map(({ code }) => code);
const messages = (option: unknown, providers = ONE) =>
  readApis(option, providers).findings.map(({ message }) => message);

describe("the option `apis`", () => {
  it("has defaults", () => {
    const api = readApis({ orders: URL_OK }, []).apis.get("orders");
    expect(api).toMatchObject({
      api: "orders",
      target: undefined,
      consentLater: false,
      audience: [],
      scope: [],
      methods: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"],
    });
    expect(api).toMatchObject({
      paths: [],
      requestHeaders: {},
      responseHeaders: {},
      allowCrossSite: false,
      redirects: [],
      timeout: 30,
    });
    expect(api?.url.href).toBe(URL_OK.url);
    expect(readApis(undefined, [])).toEqual({ apis: new Map(), findings: [] });
  });

  it("may have every option", () => {
    const all = {
      ...URL_OK,
      resource: "urn:orders",
      audience: ["orders", "guid"],
      scope: " read  write ",
      provider: "staff",
      consent: "later",
      path: "/api/orders/",
      methods: ["GET", "POST"],
      paths: ["%2F", "//", ";"],
      requestHeaders: { "X-Tenant": "a", Origin: true },
      responseHeaders: { Refresh: true },
      allowCrossSite: true,
      redirects: ["https://files.example", "https://x.example:8443/", "http://127.0.0.1:9000"],
      timeout: 0.5,
    };
    const { apis, findings } = readApis({ orders: all }, [
      { key: "staff", settings: { scope: [] } },
    ]);
    expect(findings).toEqual([]);
    expect(apis.get("orders")).toMatchObject({
      target: expect.any(String) as string,
      consentLater: true,
      scope: ["read", "write"],
      requestHeaders: { "x-tenant": "a", origin: true },
      responseHeaders: { refresh: true },
      redirects: ["https://files.example", "https://x.example:8443", "http://127.0.0.1:9000"],
      timeout: 0.5,
    });
  });

  it.each<[string, object]>([
    ["resource", { resource: "urn:x" }],
    ["audience", { audience: "x" }],
    ["scope", { scope: ["x"] }],
  ])("gives an API with `%s` a token of its own", (_name, options) => {
    expect(
      readApis({ orders: { ...URL_OK, ...options } }, []).apis.get("orders")?.target,
    ).toBeDefined();
  });

  it.each<[string, unknown]>([
    ["null", null],
    ["a list", [URL_OK]],
    ["a string", "https://orders.internal/"],
    ["an API that is a string", { orders: "https://orders.internal/" }],
    ["an API that is null", { orders: null }],
    ["an API that is a list", { orders: [URL_OK] }],
    ["an empty API", { orders: {} }],
    ["a misspelt option", { orders: { ...URL_OK, scopes: "x" } }],
    ["a name in capital letters", { Orders: URL_OK }],
    ["a name that begins with a digit", { "1orders": URL_OK }],
    ["a name with a line break", { "orders\n": URL_OK }],
    ["a name of 32 characters", { ["a".repeat(32)]: URL_OK }],
    ["a provider that doesn't exist", { orders: { ...URL_OK, provider: "staff" } }],
    ...[
      [
        "url",
        [
          "http://",
          "/v2/",
          "ftp://x/",
          "https://x",
          "https://x/v2",
          "https://x/?a/",
          "https://x/#/",
          "https://a:b@x/",
          "https://x/../",
          "HTTPS://x/",
          7,
        ],
      ],
      ["resource", ["", "orders", "urn:x#y", "urn:x y", 7, ["urn:x"]]],
      ["audience", ["", "a b", 7, [7], [""]]],
      ["scope", [7, [7], ["a b"], [["a"]]]],
      ["provider", [7, "", "Staff"]],
      ["consent", ["never", true, ""]],
      ["path", ["api/", "/api", "//", "/a//b/", "/%61/", "/a b/", "/a?/", "/*/", "/ä/", 7]],
      ["methods", ["GET", ["get"], [""], ["GET POST"], [7]]],
      ["paths", ["%2F", ["%2f"], [".."], ["%5C"]]],
      [
        "requestHeaders",
        [
          "X-A",
          ["X-A"],
          { "X A": true },
          { "X-A": "a\r\nb" },
          { Cookie: true },
          { "X-A": 7 },
          { "X-A": false },
        ],
      ],
      [
        "responseHeaders",
        [
          "X-A",
          ["X-A"],
          { "X\r\nA": true },
          { "Set-Cookie": true },
          { "Content-Length": "5" },
          { "X-A": 7 },
        ],
      ],
      ["allowCrossSite", ["true", 1]],
      [
        "redirects",
        [
          "https://files.example",
          ["http://files.example"],
          ["https://files.example/x"],
          ["https://files.example?x"],
          ["https://files.example/#"],
          ["https://a:b@files.example"],
          ["HTTPS://files.example"],
          ["https://files.example:443"],
          ["https://files.example", "//x"],
          ["https://*.example"],
          ["ftp://files.example"],
          ["blob:https://files.example"],
          ["javascript:alert(1)"],
          ["null"],
          ["*"],
          [""],
          [7],
        ],
      ],
      ["timeout", [0, -1, "30", 3_601, Number.NaN, Infinity]],
    ].flatMap(([name, values]) =>
      (values as unknown[]).map((value): [string, unknown] => [
        `${name as string}: ${JSON.stringify(value)}`,
        { orders: { ...URL_OK, [name as string]: value } },
      ]),
    ),
  ])("may not be or have %s", (_name, option) => {
    expect(new Set(codes(option))).toEqual(new Set(["E029"]));
    expect(readApis(option, []).apis.size).toBe(0);
  });

  it("a URL that only lacks the slash at its end is refused with what to write", () => {
    const messageOf = (url: string) => readApis({ orders: { url } }, []).findings[0]?.message;
    expect(messageOf("https://x/v2")).toContain("Write `https://x/v2/`.");
    expect(messageOf("https://x")).toContain("Write `https://x/`.");
    for (const url of ["https://a:b@x/v2", "https://x/v2?a", "ftp://x"])
      expect(messageOf(url)).not.toContain("Write");
  });

  it("null isn't the same as missing", () => {
    expect(codes({ orders: { ...URL_OK, resource: null } })).toEqual(["E029"]);
    expect(codes({ orders: { ...URL_OK, resource: undefined } })).toEqual([]);
  });

  it("every API's errors are found at once, and none contains more than the kind of a value", () => {
    const found = messages({
      orders: { url: "secret://", timeout: -1 },
      "Bad\nName": {},
      billing: { ...URL_OK, secret: 1 },
    });
    expect(found).toEqual([
      '`apis`, "orders": `url` is a string; allowed: an absolute http(s) URL that ends with `/`, without user info, query and fragment.',
      '`apis`, "orders": `timeout` is a negative number; allowed: seconds, at most 3600.',
      '`apis`, "Bad\\nName": a name has at most 31 lowercase letters, digits and hyphens, and starts with a letter.',
      '`apis`, "billing": there is no option "secret".',
    ]);
  });

  it.each<[string, string[]]>([
    ["http://orders.internal/", ["W023"]],
    ["http://10.0.0.1/", ["W023"]],
    ["http://localhost:3000/", []],
    ["http://127.0.0.1/", []],
    ["http://[::1]/", []],
    ["https://orders.internal/", []],
  ])("%s over plain http is a warning, off loopback: %j", (url, expected) => {
    const { apis, findings } = readApis({ orders: { url } }, []);
    expect(findings.map(({ code }) => code)).toEqual(expected);
    expect(apis.size).toBe(1);
  });

  it.each<[string, Record<string, string>, number]>([
    ["in one API", { orders: "api://x/.default api://x/read" }, 1],
    ["in two APIs", { orders: "api://x/.default", billing: "api://x/read" }, 1],
    ["of two resources", { orders: "api://x/.default", billing: "api://y/read" }, 0],
    [
      "of a resource whose name only begins the same",
      { orders: "api://x/.default", billing: "api://xy/read" },
      0,
    ],
    ["alone", { orders: "api://x/.default", billing: "api://x/.default" }, 0],
    ["with OpenID's", { orders: "openid api://x/.default" }, 0],
  ])("`.default` and single permissions may not be mixed: %s", (_name, scopes, count) => {
    const apis = Object.fromEntries(
      Object.entries(scopes).map(([name, scope]) => [name, { ...URL_OK, scope }]),
    );
    expect(codes(apis)).toEqual(Array<string>(count).fill("E029"));
  });

  it("`.default` and single permissions may not be mixed in one login: SCOPE, the APIs of its provider, and at most one with consent later", () => {
    const all = { ...URL_OK, scope: "api://x/.default" };
    const read = { ...URL_OK, scope: "api://x/read" };
    const later = { consent: "later" };
    const [staff, customers] = ["staff", "customers"].map((key) => ({
      key,
      settings: { scope: key === "staff" ? ["api://x/read"] : [] },
    }));
    expect(
      messages({ orders: all }, [
        { key: undefined, settings: { scope: ["openid", "api://x/read"] } },
      ]),
    ).toEqual([
      "`apis`, SCOPE: a login would request `.default` of api://x together with its single permissions.",
    ]);
    expect(codes({ orders: { ...all, ...later } }, [staff!])).toEqual(["E029"]);
    expect(codes({ orders: { ...all, provider: "customers" } }, [staff!, customers!])).toEqual([]);
    expect(codes({ orders: all, billing: { ...read, ...later } })).toEqual(["E029"]);
    expect(codes({ orders: { ...all, ...later }, billing: { ...read, ...later } })).toEqual([]);
  });

  it.each([
    ["0", "https://orders.internal/", ["E029"]],
    ["0", "http://127.0.0.1/", []],
    ["1", "https://orders.internal/", []],
  ])(
    "NODE_TLS_REJECT_UNAUTHORIZED=%s with %s: %j, because nothing turns off the check of an API's certificate",
    (value, url, expected) => {
      vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", value);
      const { findings } = readApis({ orders: { url } }, []);
      vi.unstubAllEnvs();
      expect(findings.map(({ code }) => code)).toEqual(expected);
      if (expected.length > 0) expect(findings[0]?.remedy).toContain("NODE_EXTRA_CA_CERTS");
    },
  );

  it.each<[string, string, string, number]>([
    ["the same", "/api/", "/api/", 1],
    ["one below the other", "/api/", "/api/v2/", 1],
    ["beside each other", "/api/orders/", "/api/billing/", 0],
  ])("two APIs' paths may not overlap: %s", (_name, one, other, count) => {
    const found = codes({ orders: { ...URL_OK, path: one }, billing: { ...URL_OK, path: other } });
    expect(found).toEqual(Array<string>(count).fill("E029"));
  });

  it.each<[string, () => unknown]>([
    [
      "a getter that throws",
      () => ({
        get orders(): never {
          throw new Error("no");
        },
      }),
    ],
    [
      "an option that throws",
      () => ({
        orders: {
          get url(): never {
            throw new Error("no");
          },
        },
      }),
    ],
    [
      "a proxy",
      () =>
        new Proxy(
          {},
          {
            ownKeys: () => {
              throw new Error("no");
            },
          },
        ),
    ],
    [
      "a revoked proxy",
      () => {
        const { proxy, revoke } = Proxy.revocable({}, {});
        revoke();
        return proxy;
      },
    ],
    [
      "a list that throws",
      () => ({
        orders: {
          ...URL_OK,
          scope: new Proxy(["a"], {
            get: () => {
              throw new Error("no");
            },
          }),
        },
      }),
    ],
    ["a prototype in JSON", () => JSON.parse('{"__proto__": {"url": "https://x/"}}') as unknown],
    ["an API whose options are inherited", () => ({ orders: Object.create(URL_OK) as unknown })],
    [
      "an API with a prototype in JSON",
      () => ({ orders: JSON.parse('{"url": "https://x/", "__proto__": {}}') as unknown }),
    ],
    ["functions and symbols", () => ({ orders: { url: Symbol("x"), scope: () => "x" } })],
  ])("of a hostile kind is error E029: %s", (_name, option) => {
    expect(new Set(codes(option()))).toEqual(new Set(["E029"]));
    expect(readApis(option(), []).apis.size).toBe(0);
  });

  it("is used as it was checked: a getter is read once", () => {
    let reads = 0;
    const orders = {
      get url() {
        reads += 1;
        return reads === 1 ? URL_OK.url : "ftp://x";
      },
    };
    expect(readApis({ orders }, []).apis.get("orders")?.url.href).toBe(URL_OK.url);
    expect(reads).toBe(1);
  });

  it("without a property doesn't take it from `Object.prototype`", () => {
    const polluted = Object.prototype as { resource?: unknown; provider?: unknown };
    polluted.resource = "urn:polluted";
    polluted.provider = "polluted";
    try {
      const { apis, findings } = readApis({ orders: URL_OK }, []);
      expect(findings).toEqual([]);
      expect(apis.get("orders")).toMatchObject({ resource: undefined, target: undefined });
    } finally {
      delete polluted.resource;
      delete polluted.provider;
    }
  });
});
