import { createSocket } from "node:dgram";
import { lookup as systemLookup, promises, Resolver, type LookupOptions } from "node:dns";
import type { AddressInfo, LookupFunction } from "node:net";
import { describe, expect, it } from "vitest";
import { publicLookup, type Queries } from "../../src/tenants/public-lookup.js";
import { stoppedAfterEach } from "../support/stopped-after-each.js";

type Answer = readonly string[] | string;

/** Answers each query with addresses, or with the code of an error. */
function answering(v4: Answer, v6: Answer): Queries {
  const query = (answer: Answer) => (_name: string, take: (...taken: unknown[]) => void) => {
    if (typeof answer === "string") take(Object.assign(new Error(answer), { code: answer }));
    else take(null, answer);
  };
  return { resolve4: query(v4), resolve6: query(v6) } as unknown as Queries;
}

function resolve(lookup: LookupFunction, options: LookupOptions = { all: true }): Promise<unknown> {
  return new Promise((done) => {
    lookup("idp.example.com", options, (error, found, family) => {
      done(error === null ? (family === undefined ? found : [found, family]) : error.code);
    });
  });
}

describe("the lookup of a public name", () => {
  const running = stoppedAfterEach();
  const both = [
    { address: "8.8.8.8", family: 4 },
    { address: "2606::1", family: 6 },
  ];

  it("returns the addresses of both versions", async () => {
    const lookup = publicLookup(answering(["8.8.8.8"], ["2606::1"]));
    expect(await resolve(lookup)).toEqual(both);
    expect(await resolve(lookup, { all: true, family: 4 })).toEqual([both[0]]);
    expect(await resolve(lookup, { all: true, family: 6 })).toEqual([both[1]]);
    expect(await resolve(lookup, {})).toEqual(["8.8.8.8", 4]);
    expect(await resolve(lookup, { family: 6 })).toEqual(["2606::1", 6]);
  });

  it.each(["ENODATA", "ETIMEOUT", "ESERVFAIL"])(
    "returns those of one version if the other one fails with %s",
    async (code) => {
      expect(await resolve(publicLookup(answering(["8.8.8.8"], code)))).toEqual([both[0]]);
      expect(await resolve(publicLookup(answering(code, ["2606::1"])))).toEqual([both[1]]);
    },
  );

  it.each([
    ["ENOTFOUND", "ENOTFOUND", "ENOTFOUND"],
    ["ENODATA", "ENODATA", "ENOTFOUND"],
    ["ETIMEOUT", "ENODATA", "EAI_AGAIN"],
    ["ESERVFAIL", "ESERVFAIL", "EAI_AGAIN"],
    ["ECANCELLED", "ECANCELLED", "EAI_AGAIN"],
  ])("fails after %s and %s with the code of the system's lookup, %s", async (v4, v6, code) => {
    expect(await resolve(publicLookup(answering(v4, v6)))).toBe(code);
  });

  it("asks the system where no DNS server is", async () => {
    const fallback: LookupFunction = (_hostname, _options, done) => {
      done(null, [{ address: "9.9.9.9", family: 4 }]);
    };
    const lookup = publicLookup(answering("ECONNREFUSED", "ECONNREFUSED"), fallback);
    expect(await resolve(lookup)).toEqual([{ address: "9.9.9.9", family: 4 }]);
  });

  it("delays no other lookup of the process while DNS doesn't answer", async () => {
    const silent = createSocket("udp4");
    await new Promise<void>((done) => silent.bind(0, "127.0.0.1", done));
    running.push(() => silent.close());
    const { port } = silent.address() as AddressInfo;
    const resolver = new Resolver({ timeout: 60_000, tries: 1 });
    resolver.setServers([`127.0.0.1:${String(port)}`]);
    const queries = new Promise<void>((done) =>
      silent.once("message", () => {
        done();
      }),
    );
    let ended = 0;
    const hanging = Array.from({ length: 20 }, async () => {
      const code = await resolve(publicLookup(resolver, systemLookup as LookupFunction));
      ended += 1;
      return code;
    });
    await queries;
    await promises.lookup("localhost");
    expect(ended).toBe(0);
    resolver.cancel();
    expect(new Set(await Promise.all(hanging))).toEqual(new Set(["EAI_AGAIN"]));
  });
});
