import type { LookupAddress, LookupOptions } from "node:dns";
import type { LookupFunction } from "node:net";
import { describe, expect, it } from "vitest";
import { guardedLookup, isAllowed, type NetworkRules } from "../../src/tenants/network-rules.js";

const allows = (address: string, rules: NetworkRules = {}) => isAllowed(new URL(address), rules);

describe("[TEN-6] the address of a request", () => {
  it.each([
    "https://idp.example.com/",
    "https://idp.example.com:443/",
    "https://idp.example.com:1024/",
    "https://idp.example.com:65535/",
    "https://xn--bcher-kva.example/",
    "https://bücher.example/",
    "https://8.8.8.8/",
    "https://[2606:4700::1111]/",
    "https://[64:ff9b::808:808]/",
    "https://local.example/",
    "https://mylocal.example/",
    "https://localhost.example/",
  ])("%s is allowed", (address) => {
    expect(allows(address)).toBe(true);
  });

  it.each([
    ["http", "http://idp.example.com/"],
    ["another scheme", "ftp://idp.example.com/"],
    ["another scheme", "file:///etc/passwd"],
    ["another scheme", "data:,x"],
    ["a user", "https://user@idp.example.com/"],
    ["a user and a password", "https://user:password@idp.example.com/"],
    ["a user that looks like a host", "https://idp.example.com@10.0.0.1/"],
    ["a low port", "https://idp.example.com:22/"],
    ["a low port", "https://idp.example.com:80/"],
    ["a low port", "https://idp.example.com:1023/"],
    ["port 0", "https://idp.example.com:0/"],
    ["a literal", "https://127.0.0.1/"],
    ["a literal", "https://10.0.0.1/"],
    ["a literal", "https://169.254.169.254/latest/meta-data/"],
    ["a literal with a dot", "https://127.0.0.1./"],
    ["decimal", "https://2130706433/"],
    ["octal", "https://0177.0.0.1/"],
    ["octal", "https://012.0.0.1/"],
    ["hexadecimal", "https://0x7f000001/"],
    ["hexadecimal", "https://0x7f.0x0.0x0.0x1/"],
    ["short", "https://127.1/"],
    ["short", "https://0/"],
    ["full width", "https://１２７.０.０.１/"],
    ["ideographic dots", "https://127。0。0。1/"],
    ["escaped", "https://%31%32%37.0.0.1/"],
    ["loopback", "https://[::1]/"],
    ["unspecified", "https://[::]/"],
    ["mapped", "https://[::ffff:10.0.0.1]/"],
    ["mapped", "https://[::ffff:a00:1]/"],
    ["mapped, public", "https://[::ffff:8.8.8.8]/"],
    ["NAT64", "https://[64:ff9b::10.0.0.1]/"],
    ["NAT64", "https://[64:ff9b::a9fe:a9fe]/"],
    ["6to4", "https://[2002:a00:1::]/"],
    ["metadata", "https://[fd00:ec2::254]/"],
    ["localhost", "https://localhost/"],
    ["localhost", "https://LOCALHOST/"],
    ["localhost, full width", "https://ｌocalhost/"],
    ["localhost with a dot", "https://localhost./"],
    ["below localhost", "https://idp.localhost/"],
    ["local", "https://printer.local/"],
    ["internal", "https://metadata.google.internal/"],
    ["internal with a dot", "https://metadata.google.internal./"],
    ["home.arpa", "https://nas.home.arpa/"],
    ["one label", "https://redis/"],
    ["one label", "https://internal/"],
    ["a dot at the end", "https://idp.example.com./"],
  ])("%s: %s is refused", (_what, address) => {
    expect(allows(address)).toBe(false);
  });

  describe("of a customer in a private network", () => {
    const inside = { allowPrivateNetwork: true };

    it.each([
      "https://10.0.0.1/",
      "https://192.168.1.1:8443/",
      "https://[fd12::1]/",
      "https://keycloak.corp.internal/",
      "https://keycloak/",
      "https://idp.example.com/",
    ])("%s is allowed", (address) => {
      expect(allows(address, inside)).toBe(true);
    });

    it.each([
      "http://10.0.0.1/",
      "https://10.0.0.1:80/",
      "https://user@10.0.0.1/",
      "https://127.0.0.1/",
      "https://[::1]/",
      "https://localhost/",
      "https://idp.localhost/",
      "https://169.254.169.254/",
      "https://100.100.100.200/",
      "https://[fd00:ec2::254]/",
      "https://[fe80::1]/",
      "https://224.0.0.1/",
    ])("%s is refused", (address) => {
      expect(allows(address, inside)).toBe(false);
    });
  });

  it("internal hosts have no rule but those about users and schemes", () => {
    const rules = { internalHosts: ["localhost", "127.0.0.1:8443", "[::1]"] };
    expect(allows("http://localhost:3000/", rules)).toBe(true);
    expect(allows("https://localhost:22/", rules)).toBe(true);
    expect(allows("https://127.0.0.1:8443/", rules)).toBe(true);
    expect(allows("http://[::1]:8080/", rules)).toBe(true);
    expect(allows("https://127.0.0.1:8444/", rules)).toBe(false);
    expect(allows("https://idp.localhost/", rules)).toBe(false);
    expect(allows("https://user@localhost/", rules)).toBe(false);
    expect(allows("ftp://localhost/", rules)).toBe(false);
  });
});

describe("what a name resolves to", () => {
  /** Returns each list of addresses in turn, and the options of the calls. */
  function resolver(...answers: readonly (readonly string[] | Error)[]) {
    const calls: [string, LookupOptions][] = [];
    const lookup: LookupFunction = (hostname, options, done) => {
      const answer = answers[Math.min(calls.length, answers.length - 1)] ?? [];
      calls.push([hostname, options]);
      if (answer instanceof Error) done(answer, "");
      else
        done(
          null,
          answer.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
        );
    };
    return { calls, lookup };
  }

  function resolve(
    rules: NetworkRules,
    options: LookupOptions = { all: true },
  ): { reason?: string; error?: string; found?: string | LookupAddress[]; family?: number } {
    let result = {};
    guardedLookup(rules)("idp.example.com", options, (error, found, family) => {
      const { reason } = (error ?? {}) as { readonly reason?: string };
      result = error === null ? { found, family } : { reason, error: JSON.stringify(error) };
    });
    return result;
  }

  it.each([[["8.8.8.8"]], [["8.8.8.8", "2606:4700::1111"]], [["64:ff9b::808:808"]]])(
    "%j is allowed",
    (addresses) => {
      const { found } = resolve(resolver(addresses));
      expect((found as LookupAddress[]).map(({ address }) => address)).toEqual(addresses);
    },
  );

  it.each([
    [["10.0.0.1"]],
    [["169.254.169.254"]],
    [["fd00:ec2::254"]],
    [["8.8.8.8", "10.0.0.1"]],
    [["8.8.8.8", "8.8.4.4", "::1"]],
    [["::ffff:10.0.0.1"]],
    [["64:ff9b::a00:1"]],
    [["not an address"]],
    [[]],
  ])("%j is refused, and the error doesn't tell the address", (addresses) => {
    for (const options of [{ all: true }, { all: false }, {}]) {
      const { reason, error = "", found } = resolve(resolver(addresses), options);
      expect([reason, found]).toEqual(["address_refused", undefined]);
      for (const address of addresses) expect(error).not.toContain(address);
    }
  });

  it("looks at all addresses also if the caller needs one", () => {
    const { calls, lookup } = resolver(["8.8.8.8", "9.9.9.9"]);
    const result = resolve({ lookup }, { family: 4, hints: 0 });
    expect(result).toEqual({ found: "8.8.8.8", family: 4 });
    expect(calls).toEqual([["idp.example.com", { family: 4, hints: 0, all: true }]]);
  });

  it("checks each lookup anew, so a name that changes its address is refused", () => {
    const rules = resolver(["8.8.8.8"], ["127.0.0.1"]);
    expect(resolve(rules).reason).toBeUndefined();
    expect(resolve(rules).reason).toBe("address_refused");
  });

  it("accepts a lookup that returns one address", () => {
    const one =
      (address: string): LookupFunction =>
      (_hostname, _options, done) => {
        done(null, address, 4);
      };
    expect(resolve({ lookup: one("8.8.8.8") }).found).toEqual([{ address: "8.8.8.8", family: 4 }]);
    expect(resolve({ lookup: one("127.0.0.1") }).reason).toBe("address_refused");
  });

  it("passes on the failure of a lookup", () => {
    const error = Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" });
    expect(resolve(resolver(error)).error).toContain("ENOTFOUND");
  });

  it("allows private networks for a customer inside, and never metadata", () => {
    const inside = (...addresses: string[]) =>
      resolve({ ...resolver(addresses), allowPrivateNetwork: true }).reason;
    expect(inside("10.0.0.1", "fd12::1", "8.8.8.8")).toBeUndefined();
    expect(inside("169.254.169.254")).toBe("address_refused");
    expect(inside("10.0.0.1", "127.0.0.1")).toBe("address_refused");
  });
});
