import { describe, expect, it, vi } from "vitest";
import { readApis } from "../../src/config/read-apis.js";

const URL_OK = { url: "https://orders.internal/v2/" };
const RULE = {
  path: "items/my archive/Größe(1)",
  methods: ["GET"],
  allow: () => true,
  maxAge: 30,
  acr: ["mfa"],
  provider: "staff",
};
/** One provider without a key. */
const ISSUER = "https://idp.example";
const ONE = [{ key: undefined, settings: { issuer: ISSUER, scope: ["openid", "email"] } }];
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
      rules: [],
      timeout: 30,
      dispatcher: undefined,
      certificate: undefined,
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
      rules: [RULE],
      timeout: 0.5,
    };
    const { apis, findings } = readApis({ orders: all }, [
      { key: "staff", settings: { issuer: ISSUER, scope: [] } },
    ]);
    expect(findings).toEqual([]);
    expect(apis.get("orders")).toMatchObject({
      target: expect.any(String) as string,
      consentLater: true,
      scope: ["read", "write"],
      requestHeaders: { "x-tenant": "a", origin: true },
      responseHeaders: { refresh: true },
      redirects: ["https://files.example", "https://x.example:8443", "http://127.0.0.1:9000"],
      rules: [RULE],
      timeout: 0.5,
    });
    const dispatcher = { dispatch: () => true };
    const own = readApis({ orders: { ...URL_OK, dispatcher } }, []);
    expect([own.findings, own.apis.get("orders")?.dispatcher]).toEqual([[], dispatcher]);
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
      ["resource", ["", "orders", "urn:x#y", "urn:x y", 'urn:x"y', "urn:x\\y", 7, ["urn:x"]]],
      ["audience", ["", "a b", 'a"b', "a\\b", 7, [7], [""], []]],
      [
        "scope",
        [
          "",
          " ",
          'read "all"',
          "a\\b",
          "é",
          "a\tb",
          "a\nb",
          7,
          [7],
          ["a b"],
          ['a"'],
          [["a"]],
          [""],
          [],
        ],
      ],
      ["provider", [7, "", "Staff"]],
      ["consent", ["never", true, ""]],
      [
        "path",
        [
          "api/",
          "/api",
          "//",
          "/a//b/",
          "/%61/",
          "/a b/",
          "/a?/",
          "/*/",
          "/ä/",
          "/./",
          "/../",
          "/api/../",
          "/a/./b/",
          7,
        ],
      ],
      ["methods", ["GET", [], [["GET"]], ["get"], [""], ["GET POST"], [7]]],
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
      ["dispatcher", [null, "http://proxy.example", {}, { dispatch: 1 }]],
    ].flatMap(([name, values]) =>
      (values as unknown[]).map((value): [string, unknown] => [
        `${name as string}: ${JSON.stringify(value)}`,
        { orders: { ...URL_OK, [name as string]: value } },
      ]),
    ),
  ])("may not be or have %s", (_name, option) => {
    expect(new Set(codes(option))).toEqual(new Set(["E006"]));
    expect(readApis(option, []).apis.size).toBe(0);
  });

  it.each<[string, object, object?]>([
    ["is no object", "admin" as never],
    ["requires nothing", {}],
    ["requires nothing of a path", { path: "admin", methods: ["GET"] }],
    ["has a misspelt option", { paths: "admin", maxAge: 60 }],
    ["has a path with a leading slash", { path: "/admin", maxAge: 60 }],
    ["has the path of the whole application", { path: "/api/orders/admin", maxAge: 60 }],
    ["has an empty path", { path: "", maxAge: 60 }],
    ["has an empty segment", { path: "admin//x", maxAge: 60 }],
    ["has a dot segment", { path: "admin/../x", maxAge: 60 }],
    ["has a segment of dots", { path: "...", maxAge: 60 }],
    ["has a segment of spaces", { path: "a/ /b", maxAge: 60 }],
    ["has an encoded path", { path: "%61dmin", maxAge: 60 }],
    ["has a path parameter", { path: "admin;x", maxAge: 60 }],
    ["has a query", { path: "admin?x", maxAge: 60 }],
    ["has a fragment", { path: "admin#x", maxAge: 60 }],
    ["has a backslash", { path: "admin\\x", maxAge: 60 }],
    ["has a line break", { path: "admin\n", maxAge: 60 }],
    ["has a path that is no string", { path: 7, maxAge: 60 }],
    ["has an undefined path", { path: undefined, maxAge: 60 }],
    ["has undefined methods", { methods: undefined, maxAge: 60 }],
    ["has no methods", { methods: [], maxAge: 60 }],
    ["has methods in small letters", { methods: ["get"], maxAge: 60 }],
    ["has only methods that the API doesn't have", { methods: ["PURGE"], maxAge: 60 }],
    [
      "has only methods that the API's list lacks",
      { methods: ["PUT"], maxAge: 60 },
      { methods: ["GET"] },
    ],
    ["has methods in small letters at an end", { methods: ["GETs"], maxAge: 60 }],
    ["has methods in small letters at a beginning", { methods: ["xGET"], maxAge: 60 }],
    ["has a method that is a list", { methods: [["GET"]], maxAge: 60 }],
    ["has methods without a list", { methods: "GET", maxAge: 60 }],
    [
      "has only HEAD, for an API that has only GET",
      { methods: ["HEAD"], maxAge: 60 },
      { methods: ["GET"] },
    ],
    [
      "has only GET, for an API that has only POST",
      { methods: ["GET"], maxAge: 60 },
      { methods: ["POST"] },
    ],
    ["has the name of an inherited property", { constructor: "x", maxAge: 60 }],
    ["has two slashes at its end", { path: "admin//", maxAge: 60 }],
    ["has a slash alone", { path: "/", maxAge: 60 }],
    ["has a wrong character after a right segment", { path: "a/b%", maxAge: 60 }],
    ["has a wrong character before a dot", { path: "%.a", maxAge: 60 }],
    ["has a wrong character in the middle", { path: "a%b", maxAge: 60 }],
    ["has a control character", { path: "a\u0000b", maxAge: 60 }],
    ["has an undefined requirement", { path: "admin", allow: undefined }],
    ["has an `allow` that is no function", { allow: true }],
    ["has a short `maxAge`", { maxAge: 29 }],
    ["has a `maxAge` that is no number", { maxAge: "60" }],
    ["has an empty `acr`", { acr: [] }],
    ["has an `acr` with a space", { acr: "a b" }],
    ["has an empty `provider`", { provider: "" }],
    ["has no providers", { provider: [] }],
    ["is for an API without a path", { maxAge: 60 }, { path: undefined }],
    [
      "could be passed by another method",
      { maxAge: 60 },
      { requestHeaders: { "X-HTTP-Method-Override": true } },
    ],
    [
      "could be passed by another address",
      { maxAge: 60 },
      { requestHeaders: { "x-original-url": true } },
    ],
  ])("may not have a rule that %s", (_name, rule, options = {}) => {
    const orders = { ...URL_OK, path: "/api/orders/", rules: [rule], ...options };
    expect(codes({ orders })).toEqual(["E006"]);
    expect(readApis({ orders }, []).apis.size).toBe(0);
  });

  it.each<[object, object?]>([
    [{ path: "admin/", maxAge: 60 }],
    [{ path: "v1.0/$metadata/items(1)/@me", acr: "mfa" }],
    [{ methods: ["GET"], maxAge: 60 }, { methods: ["HEAD"] }],
    [{ methods: ["PUT", "GET"], maxAge: 60 }, { methods: ["GET"] }],
    [{ maxAge: 60 }, { requestHeaders: { "X-HTTP-Method-Override": "GET" } }],
    [{ maxAge: 60 }, { requestHeaders: { Origin: true } }],
    [{ path: ".well-known/a.b./c .d", maxAge: 60 }],
    [{ path: " a/b ", maxAge: 60 }],
    [{ methods: ["HEAD"], maxAge: 60 }, { methods: ["GET", "HEAD"] }],
    [{ methods: ["TRACER"], maxAge: 60 }, { methods: ["TRACER", "XCONNECT"] }],
    ...[
      "X-Method-Overrides",
      "X-Original-URLs",
      "X-Original-Urn",
      "X-Override",
      "X-HTTP",
      "My-X-Original-URL",
    ].map((name): [object, object] => [{ maxAge: 60 }, { requestHeaders: { [name]: true } }]),
  ])("may have the rule %j", (rule, options = {}) => {
    expect(
      codes({ orders: { ...URL_OK, path: "/api/orders/", rules: [rule], ...options } }),
    ).toEqual([]);
  });

  it.each(["X-HTTP-Method", "X-HTTP-Method-Override", "X-HTTP-Path", "X-HTTP-Path-Override", "X-HTTP-Methods", "X-Method-Override", "X-Original-URL", "X-Original-URI", "X-Original-Path", "X-Original-Method", "X-Override-URL", "X-Override-Method", "X-Rewrite-URL", "X-Rewrite-Path"])(
    "may have no rule if %s passes, which some servers take for the method or the path",
    (name) => {
      const orders = { ...URL_OK, path: "/api/orders/", rules: [{ maxAge: 60 }] };
      expect(codes({ orders: { ...orders, requestHeaders: { [name]: true } } })).toEqual(["E006"]);
      expect(codes({ orders: { ...orders, rules: [], requestHeaders: { [name]: true } } })).toEqual([]);
      expect(codes({ orders: { ...orders, requestHeaders: { [name]: "GET" } } })).toEqual([]);
    },
  ); // prettier-ignore

  it("may list at most 50 methods, of at most 20 letters, without CONNECT and TRACE", () => {
    const of = (...methods: string[]) => codes({ orders: { ...URL_OK, methods } });
    const many = Array.from({ length: 51 }, (_, at) => `A${"B".repeat(Math.floor(at / 5))}${"CDEFG"[at % 5]!}`); // prettier-ignore
    expect([of("A".repeat(20)), of("TRACER"), of("XTRACE"), of(...many.slice(1))]).toEqual([[], [], [], []]);
    for (const methods of [["A".repeat(21)], ["TRACE"], ["GET", "CONNECT"], many])
      expect(of(...methods)).toEqual(["E006"]);
  }); // prettier-ignore

  it("names each error of a rule that matches nothing, and of an API without a path", () => {
    const rules = [{ methods: ["PURGE"], maxAge: 60 }, { unknown: 1, maxAge: 60 }];
    expect(messages({ orders: { ...URL_OK, rules } })).toEqual([
      '`apis`, "orders": rule 1: it can\'t match, because the API has none of its `methods`.',
      '`apis`, "orders": rule 2: there is no option "unknown".',
      '`apis`, "orders": `rules` are for the proxy, which needs a `path`.',
    ]);
    expect(messages({ orders: { ...URL_OK, path: "/a/", rules: [{ methods: 7, maxAge: 60 }] } })).toEqual([
      '`apis`, "orders": rule 1: `methods` is a number; allowed: a list of methods in capital letters, without CONNECT and TRACE.',
    ]);
    expect(messages({ orders: { ...URL_OK, path: "/a/", rules: [{ path: 7, maxAge: 60 }] } })).toEqual([
      expect.stringMatching(/^`apis`, "orders": rule 1: `path` is a number; allowed: /),
    ]);
  }); // prettier-ignore

  it("names the rule and its option", () => {
    const rules = [{ maxAge: 60 }, { path: "/admin", maxAge: 1 }, { methods: ["GET"] }];
    expect(messages({ orders: { ...URL_OK, path: "/api/orders/", rules } })).toEqual([
      '`apis`, "orders": rule 2: `path` is a string; allowed: a path below the API\'s `url`, without a leading slash, not encoded, and without `;`, such as `items/archive`.',
      '`apis`, "orders": rule 2: `maxAge` is a number; allowed: a whole number of seconds, at least 30.',
      '`apis`, "orders": rule 3: it requires nothing.',
    ]);
    expect(
      messages({
        orders: {
          ...URL_OK,
          rules: [RULE],
          path: "/x/",
          requestHeaders: { "X-Rewrite-URL": true },
        },
      }),
    ).toEqual([
      '`apis`, "orders": with `rules`, "x-rewrite-url" can\'t pass, because some servers take it for the method or the path.',
    ]);
  });

  it.each([
    ["/", "/auth/"],
    ["/auth/", "/auth/"],
    ["/auth/sub/", "/auth/"],
    ["/api/", "/api/auth/"],
  ])("may not have the path %s if the endpoints have %s", (path, mountPath) => {
    const { findings } = readApis({ orders: { ...URL_OK, path } }, ONE, { mountPath });
    expect(findings.map(({ message }) => message)).toEqual([
      `\`apis.orders\`: the \`path\` and that of the endpoints, ${mountPath}, overlap.`,
    ]);
  });

  it.each(["/", "/idpauth/", "/idpauth/login/"])("may not have the path %s by default", (path) => {
    expect(codes({ orders: { ...URL_OK, path } })).toEqual(["E006"]);
  });

  it("a rule is used as it was checked", () => {
    const rule = { path: "admin", maxAge: 60 };
    const row = readApis({ orders: { ...URL_OK, path: "/api/", rules: [rule] } }, []).apis.get(
      "orders",
    );
    rule.path = "x";
    expect(row?.rules).toEqual([{ path: "admin", maxAge: 60 }]);
  });

  it("a URL that only lacks the slash at its end is refused with what to write", () => {
    const messageOf = (url: string) => readApis({ orders: { url } }, []).findings[0]?.message;
    expect(messageOf("https://x/v2")).toContain("Write `https://x/v2/`.");
    expect(messageOf("https://x")).toContain("Write `https://x/`.");
    for (const url of ["https://a:b@x/v2", "https://x/v2?a", "ftp://x"])
      expect(messageOf(url)).not.toContain("Write");
  });

  it("null isn't the same as missing", () => {
    expect(codes({ orders: { ...URL_OK, resource: null } })).toEqual(["E006"]);
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
    ["http://orders.internal/", ["W011"]],
    ["http://10.0.0.1/", ["W011"]],
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
    expect(codes(apis)).toEqual(Array<string>(count).fill("E006"));
  });

  it("`.default` and single permissions may not be mixed in one login: SCOPE, the APIs of its provider, and at most one with consent later", () => {
    const all = { ...URL_OK, scope: "api://x/.default" };
    const read = { ...URL_OK, scope: "api://x/read" };
    const later = { consent: "later" };
    const [staff, customers] = ["staff", "customers"].map((key) => ({
      key,
      settings: { issuer: ISSUER, scope: key === "staff" ? ["api://x/read"] : [] },
    }));
    expect(
      messages({ orders: all }, [
        { key: undefined, settings: { issuer: ISSUER, scope: ["openid", "api://x/read"] } },
      ]),
    ).toEqual([
      "`apis`, SCOPE: a login would request `.default` of api://x together with its single permissions.",
    ]);
    expect(codes({ orders: { ...all, ...later } }, [staff!])).toEqual(["E006"]);
    expect(codes({ orders: { ...all, provider: "customers" } }, [staff!, customers!])).toEqual([]);
    expect(codes({ orders: all, billing: { ...read, ...later } })).toEqual(["E006"]);
    expect(codes({ orders: { ...all, ...later }, billing: { ...read, ...later } })).toEqual([]);
  });

  it.each<[string, object, number]>([
    ["resource", { orders: { resource: "api://x" }, billing: { scope: "api://x/read" } }, 1],
    ["audience", { orders: { audience: "api://x" }, billing: { scope: "api://x/read" } }, 1],
    ["resource with a slash", { orders: { resource: "https://x/" }, b: { scope: "https://x/read" } }, 1], // prettier-ignore
    ["resource of another API", { orders: { resource: "api://x" }, billing: { scope: "api://y/read" } }, 0], // prettier-ignore
    ["resource twice", { orders: { resource: "api://x" }, billing: { audience: "api://x" } }, 0],
    ["resource beside scopes", { orders: { resource: "api://x", scope: "api://x/read" } }, 0],
    ["no token of its own", { orders: {}, billing: { scope: "api://x/read" } }, 0],
  ])("at Entra ID, an API with only a resource stands for `.default`: %s", (_name, rows, count) => {
    const apis = Object.fromEntries(
      Object.entries(rows).map(([name, row]) => [name, { ...URL_OK, ...(row as object) }]),
    );
    const entra = "https://login.microsoftonline.com/11111111-2222-4333-8444-555555555555/v2.0";
    const at = (issuer: string) =>
      codes(apis, [{ key: undefined, settings: { issuer, scope: ["openid"] } }]);
    expect(at(entra)).toEqual(Array<string>(count).fill("E006"));
    expect(at(ISSUER)).toEqual([]);
  });

  it.each([
    ["0", "https://orders.internal/", ["E006"]],
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
    expect(found).toEqual(Array<string>(count).fill("E006"));
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
  ])("of a hostile kind is error E006: %s", (_name, option) => {
    expect(new Set(codes(option()))).toEqual(new Set(["E006"]));
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
