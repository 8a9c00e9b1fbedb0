import { expect, it } from "vitest";
import { AskedOrigins } from "../../src/auth/asked-origins.js";
import { EventHub } from "../../src/events/event-hub.js";
import { OriginFunction } from "../../src/http/origins.js";
import type { IdpRequest } from "../../src/http/request.js";
import { TestClock } from "../../src/testing/test-clock.js";

const requestTo = (host: string): IdpRequest => ({
  method: "GET",
  target: "/",
  scheme: "https",
  host,
  header: () => undefined,
});

function originsBy(ask: OriginFunction["ask"]) {
  const clock = new TestClock();
  const events = new EventHub(() => undefined, clock);
  return new AskedOrigins(new OriginFunction(ask), { clock, events });
}

it("20,000 hosts and 20,000 strangers in turn leave 10,000 and 1,000 behind", async () => {
  const origins = originsBy((host) =>
    Promise.resolve(host.startsWith("shop") ? `https://${host}` : undefined),
  );
  for (let index = 0; index < 20_000; index += 1) {
    const request = requestTo(`shop-${index}.example`);
    await origins.find(request, false);
    expect(origins.of(request, false)).toBe(`https://shop-${index}.example`);
    await origins.find(requestTo(`stranger-${index}.example`), false);
  }
  expect(origins.size).toBe(11_000);
  expect(origins.of(requestTo("shop-9999.example"), false)).toBeUndefined();
  expect(origins.of(requestTo("shop-10000.example"), false)).toBe("https://shop-10000.example");
});

it("a request keeps its origin when 10,000 others have pushed its host out", async () => {
  const origins = originsBy((host) => Promise.resolve(`https://${host}`));
  const first = requestTo("first.example");
  await origins.find(first, false);
  for (let index = 0; index < 10_000; index += 1)
    await origins.find(requestTo(`shop-${index}.example`), false);
  expect(origins.of(requestTo("first.example"), false)).toBeUndefined();
  expect(origins.of(first, false)).toBe("https://first.example");
});

it("hosts that can't be one aren't asked for", async () => {
  const asked: string[] = [];
  const origins = originsBy((host) => {
    asked.push(host);
    return Promise.resolve(undefined);
  });
  for (const host of [
    "a b",
    "",
    "a/../b",
    "user@a.example",
    "bücher.example",
    "a,b",
    "x".repeat(256),
  ])
    expect(origins.find(requestTo(host), false)).toBeUndefined();
  await origins.find(requestTo("A.Example.:443"), false);
  await origins.find(requestTo("[0::1]:3000"), false);
  expect(asked).toEqual(["a.example", "[::1]:3000"]);
});
