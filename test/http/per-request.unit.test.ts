import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { PerRequest } from "../../src/http/per-request.js";

describe("what is remembered of a request", () => {
  it("is each owner's own, and each request's own", () => {
    const [one, other] = [new PerRequest<string>(), new PerRequest<string>()];
    const [request, another] = [{}, {}];
    expect(one.get(request)).toBeUndefined();
    one.set(request, "of the first");
    expect([other.get(request), one.get(another)]).toEqual([undefined, undefined]);
    other.set(request, "of the second");
    one.set(another, "of another request");
    expect([one.get(request), other.get(request), one.get(another)]).toEqual([
      "of the first",
      "of the second",
      "of another request",
    ]);
    one.set(request, "newer");
    expect([one.get(request), other.get(request)]).toEqual(["newer", "of the second"]);
  });

  it("is the request's alone if another one, such as a copy, has its list of header lines", () => {
    const [kept, other] = [new PerRequest<string>(), new PerRequest<string>()];
    const rawHeaders = ["Host", "app.example"];
    const [request, copy] = [{ rawHeaders }, { rawHeaders }];
    kept.set(request, "x");
    expect(kept.get(copy)).toBeUndefined();
    kept.set(copy, "y");
    other.set(copy, "z");
    expect([kept.get(request), kept.get(copy)]).toEqual(["x", "y"]);
    expect([other.get(request), other.get(copy)]).toEqual([undefined, "z"]);
  });

  it.each([
    ["a request", () => ({ rawHeaders: ["Host", "app.example"] })],
    ["a request without header lines", () => ({ url: "/" })],
    ["a frozen request", () => Object.freeze({ url: "/" })],
  ])("is made once for %s, by the first that needs it", (_, create) => {
    const kept = new PerRequest<object>();
    const request = create();
    const made: unknown[] = [];
    const make = (given: object) => {
      made.push(given);
      return {};
    };
    const first = kept.getOrSet(request, make);
    expect([kept.getOrSet(request, make), kept.get(request)]).toEqual([first, first]);
    expect(kept.getOrSet(request, make)).toBe(first);
    kept.set(request, made);
    expect(kept.getOrSet(request, make)).toBe(made);
    expect(made).toEqual([request]);
  });

  it("cannot be seen on the request by anybody else", () => {
    const request = new IncomingMessage(new Socket());
    const before = [
      Reflect.ownKeys(request),
      Object.getPrototypeOf(request),
      Object.entries(request).length,
    ];
    new PerRequest<string>().set(request, "a secret");
    expect([
      Reflect.ownKeys(request),
      Object.getPrototypeOf(request),
      Object.entries(request).length,
    ]).toEqual(before);
    expect(request).toBeInstanceOf(IncomingMessage);
  });

  it("is kept of a frozen request too, which newer engines give no field to", () => {
    const kept = new PerRequest<string>();
    const [request, another] = [Object.freeze({ url: "/" }), Object.freeze({ url: "/" })];
    kept.set(request, "x");
    expect([kept.get(request), kept.get(another), new PerRequest<string>().get(request)]).toEqual([
      "x",
      undefined,
      undefined,
    ]);
  });

  it("is still known, and can change, after the application has frozen the request", () => {
    const [kept, later] = [new PerRequest<string>(), new PerRequest<string>()];
    const request = { url: "/" };
    kept.set(request, "x");
    Object.freeze(request);
    later.set(request, "y");
    expect([kept.get(request), later.get(request)]).toEqual(["x", "y"]);
    kept.set(request, "newer");
    expect([kept.get(request), later.get(request)]).toEqual(["newer", "y"]);
  });

  it("is still known after the application has frozen the list of header lines", () => {
    const [kept, later] = [new PerRequest<string>(), new PerRequest<string>()];
    const request = { rawHeaders: ["Host", "app.example"] };
    kept.set(request, "x");
    Object.freeze(request.rawHeaders);
    expect(kept.get(request)).toBe("x");
    later.set(request, "y");
    kept.set(request, "newer");
    expect([kept.get(request), later.get(request)]).toEqual(["newer", "y"]);
  });

  it("is kept of a request that makes its list of header lines anew at each read", () => {
    class Computed {
      get rawHeaders() {
        return ["Host", "app.example"];
      }
    }
    const kept = new PerRequest<string>();
    const request = new Computed();
    kept.set(request, "x");
    expect([kept.get(request), kept.get(new Computed())]).toEqual(["x", undefined]);
  });

  it("is not the request's that has it as its prototype, nor that of a proxy around it", () => {
    const kept = new PerRequest<string>();
    const request = {};
    kept.set(request, "x");
    expect([kept.get(Object.create(request) as object), kept.get(new Proxy(request, {}))]).toEqual([
      undefined,
      undefined,
    ]);
  });
});
