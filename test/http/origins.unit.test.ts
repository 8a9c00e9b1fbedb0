import { describe, expect, it } from "vitest";
import { OriginList } from "../../src/http/origins.js";
import { isAtUnknownHost, isSecure, ownOrigin } from "../../src/http/own-origin.js";
import type { IdpRequest } from "../../src/http/request.js";

interface Sent {
  readonly host: string | undefined;
  readonly scheme?: "http" | "https";
  readonly headers?: Readonly<Record<string, string>>;
}

const requestWith = ({ host, scheme = "http", headers = {} }: Sent): IdpRequest => ({
  method: "GET",
  target: "/",
  scheme,
  host,
  header: (name) => headers[name],
});

const ORIGINS = new OriginList([
  "https://app.example.com",
  "https://*.app.example.com",
  "https://shop.customer.example:8443",
  "https://xn--bcher-kva.example",
  "http://localhost:3000",
  "http://*.localhost:3000",
  "http://[::1]:3000",
  "http://plain.example",
]);

const originOf = (sent: Sent, trustProxy = false) =>
  ownOrigin(requestWith(sent), { baseUrl: ORIGINS, trustProxy });

describe("a list of origins", () => {
  it.each<[string, string]>([
    ["app.example.com", "https://app.example.com"],
    ["APP.Example.COM", "https://app.example.com"],
    ["app.example.com.", "https://app.example.com"],
    ["app.example.com:443", "https://app.example.com"],
    ["app.example.com.:443", "https://app.example.com"],
    ["acme.app.example.com", "https://acme.app.example.com"],
    ["ACME.app.example.com:443", "https://acme.app.example.com"],
    ["xn--bcher-kva.app.example.com", "https://xn--bcher-kva.app.example.com"],
    ["shop.customer.example:8443", "https://shop.customer.example:8443"],
    ["XN--BCHER-KVA.example", "https://xn--bcher-kva.example"],
    ["localhost:3000", "http://localhost:3000"],
    ["acme.localhost:3000", "http://acme.localhost:3000"],
    ["[::1]:3000", "http://[::1]:3000"],
    ["[0:0:0:0:0:0:0:1]:3000", "http://[::1]:3000"],
    ["plain.example:80", "http://plain.example"],
  ])("%s belongs to %s", (host, origin) => {
    expect(originOf({ host })).toBe(origin);
    expect(originOf({ host, scheme: "https" })).toBe(origin);
  });

  it.each([
    undefined,
    "",
    "example.com",
    "a.b.app.example.com",
    ".app.example.com",
    "..app.example.com",
    "a..app.example.com",
    "-.app.example.com",
    "*.app.example.com",
    "app.example.com..",
    "app.example.com:8443",
    "acme.app.example.com:8443",
    "app.example.com:80",
    "app.example.com:",
    "app.example.com:0443x",
    "app.example.com@evil.example",
    "evil.example/app.example.com",
    "evil.example#.app.example.com",
    "app.example.com.evil.example",
    "evilapp.example.com",
    "xapp.example.com",
    "shop.customer.example",
    "bücher.example",
    "acme。app.example.com",
    "acme.app.example.com, app.example.com",
    "[::1]",
    "[::2]:3000",
    "::1:3000",
    "1.localhost.:3001",
    "plain.example:443",
    "a".repeat(300),
  ])("%s belongs to none", (host) => {
    expect(originOf({ host })).toBeUndefined();
    expect(isAtUnknownHost(requestWith({ host }), { baseUrl: ORIGINS, trustProxy: false })).toBe(
      true,
    );
  });

  it("takes the scheme from the entry, whatever the headers say", () => {
    const settings = { baseUrl: ORIGINS, trustProxy: true };
    const headers = { "x-forwarded-proto": "http" };
    expect(isSecure(requestWith({ host: "app.example.com", headers }), settings)).toBe(true);
    const https = { "x-forwarded-proto": "https" };
    const plain = requestWith({ host: "plain.example", scheme: "https", headers: https });
    expect([ownOrigin(plain, settings), isSecure(plain, settings)]).toEqual([
      "http://plain.example",
      false,
    ]);
  });

  it("reads X-Forwarded-Host only from a trusted proxy, and then its last value", () => {
    const headers = { "x-forwarded-host": "evil.example, acme.app.example.com" };
    const sent = { host: "app.example.com", headers };
    expect(originOf(sent)).toBe("https://app.example.com");
    expect(originOf(sent, true)).toBe("https://acme.app.example.com");
    const lie = { "x-forwarded-host": "acme.app.example.com, evil.example" };
    expect(originOf({ host: "app.example.com", headers: lie }, true)).toBeUndefined();
  });

  it("an entry without a wildcard counts before one with", () => {
    const mixed = new OriginList(["https://*.app.example.com", "http://old.app.example.com"]);
    const settings = { baseUrl: mixed, trustProxy: false };
    expect(ownOrigin(requestWith({ host: "old.app.example.com" }), settings)).toBe(
      "http://old.app.example.com",
    );
  });

  it.each<[string, boolean]>([
    ["https://app.example.com", true],
    ["https://acme.app.example.com", true],
    ["https://*.app.example.com", false],
    ["https://a.b.app.example.com", false],
    ["http://app.example.com", false],
    ["https://app.example.com/", false],
    ["https://evil.example", false],
    ["null", false],
  ])("contains %s: %s", (origin, isOne) => {
    expect(ORIGINS.has(origin)).toBe(isOne);
  });

  it("one origin as a string doesn't read the request", () => {
    const unread = new Proxy({} as IdpRequest, {
      get: () => {
        throw new Error("read");
      },
    });
    const settings = { baseUrl: "https://app.example.com", trustProxy: true };
    expect([
      ownOrigin(unread, settings),
      isSecure(unread, settings),
      isAtUnknownHost(unread, settings),
    ]).toEqual(["https://app.example.com", true, false]);
  });
});
