import { expect, describe, it } from "vitest";
import { OUTCOME } from "../../site/diagrams/race.mjs";
import { races } from "../../site/race/race.data.js";
import { HTTP_TIMEOUT, REQUESTS, simulate, type RaceEvent } from "../../site/race/simulate.js";
import { LEASE_MS } from "../../src/access/refresh-limits.js";
import { PROVIDER_SETTINGS } from "../../src/config/provider-setting-rows.js";

const played = await races();
const killedBefore = await simulate({ kill: "before-request" });

const of = <Kind extends RaceEvent["kind"]>(events: readonly RaceEvent[], kind: Kind) =>
  events.filter((event): event is RaceEvent & { readonly kind: Kind } => event.kind === kind);

/** How many responses have this status. */
const responses = (events: readonly RaceEvent[], status: number) =>
  of(events, "response")
    .filter((event) => event.status === status)
    .reduce((sum, { count }) => sum + count, 0);

describe("200 requests at two processes", () => {
  it("cause one token request, and all of them succeed", async () => {
    const events = await simulate({ kill: "never" });
    expect(of(events, "token-request")).toMatchObject([{ by: "A", token: 1 }]);
    expect(of(events, "lease").map(({ by }) => by)).toEqual(["A"]);
    expect(responses(events, 200)).toBe(REQUESTS);
    expect(of(events, "response").every(({ status, at }) => status === 200 && at < 1000)).toBe(
      true,
    );
  });

  it("survive a process that is killed before its token request: the other one takes over after the lease", () => {
    const events = killedBefore;
    const [first, second] = of(events, "lease");
    expect([first?.by, second?.by]).toEqual(["A", "B"]);
    const waited = (second?.at ?? 0) - (first?.at ?? 0);
    expect(waited).toBeGreaterThanOrEqual(LEASE_MS);
    expect(waited).toBeLessThan(LEASE_MS + 2000);
    expect(of(events, "token-request")).toMatchObject([{ by: "B", token: 1 }]);
    expect(responses(events, 200)).toBe(REQUESTS);
    expect(responses(events, 401)).toBe(0);
    expect(of(events, "reuse")).toEqual([]);
  });

  it("get 503 after IDP_HTTP_TIMEOUT while a killed process holds the lease", () => {
    const [first] = of(killedBefore, "response");
    expect(first?.status).toBe(503);
    expect(first?.at).toBeGreaterThanOrEqual(HTTP_TIMEOUT * 1000);
    expect(first?.at).toBeLessThan(HTTP_TIMEOUT * 1000 + 100);
    expect(PROVIDER_SETTINGS.httpTimeout.default).toBe(HTTP_TIMEOUT);
  });

  it("spend each refresh token once if a process is killed after it has stored the new one", async () => {
    const events = await simulate({ kill: "after-store" });
    expect(of(events, "token-request")).toMatchObject([
      { by: "A", token: 1 },
      { by: "B", token: 2 },
    ]);
    expect(responses(events, 200)).toBe(REQUESTS);
    expect(responses(events, 401)).toBe(0);
  });

  it("end in a new sign-in if a process is killed between the provider's response and the store", async () => {
    const events = await simulate({ kill: "before-store" });
    expect(of(events, "token-request").map(({ token }) => token)).toEqual([1, 1]);
    expect(of(events, "reuse")).toMatchObject([{ by: "B" }]);
    expect(responses(events, 200)).toBe(0);
    expect(responses(events, 401)).toBe(REQUESTS);
  });

  it("get 503 while the provider refuses connections, and succeed once it is back", async () => {
    const events = await simulate({ kill: "never", outage: 10 });
    const [recovered] = of(events, "recovered");
    expect(responses(events, 200)).toBe(REQUESTS);
    expect(responses(events, 401)).toBe(0);
    expect(responses(events, 503)).toBeGreaterThanOrEqual(REQUESTS);
    for (const { status, at } of of(events, "response"))
      expect(status).toBe(at < (recovered?.at ?? 0) ? 503 : 200);
    expect(of(events, "token-request")).toMatchObject([{ token: 1 }]);
  });

  it("sign the user out if the store doesn't compare before it swaps", async () => {
    const events = await simulate({ kill: "never", compares: false });
    expect(of(events, "token-request").map(({ token }) => token)).toEqual([1, 1]);
    expect(of(events, "reuse")).toHaveLength(1);
    expect(responses(events, 200)).toBeLessThan(REQUESTS);
    expect(responses(events, 401)).toBeGreaterThan(0);
  });
});

describe("the figure of the race", () => {
  it("shows what the simulation ends with, in each case", () => {
    const ends = played.map(({ name, frames }) => {
      const { tokenRequests, succeeded, signedOut, time, lease } = frames.at(-1) ?? {};
      return [name, { tokenRequests, succeeded, signedOut, time, lease }];
    });
    const good = { succeeded: 200, signedOut: 0, lease: null };
    expect(Object.fromEntries(ends)).toEqual({
      "before-request": { ...good, tokenRequests: 1, time: "41 s" },
      "after-store": { ...good, tokenRequests: 2, time: "41 s" },
      "before-store": { tokenRequests: 2, succeeded: 0, signedOut: 1, lease: null, time: "41 s" },
      won: { ...good, tokenRequests: 1, time: "0.41 s" },
      outage: { ...good, tokenRequests: 1, time: "15 s" },
    });
  });

  it("tells each step in words, with 503 while the requests wait", () => {
    const killed = played.find(({ name }) => name === "before-request");
    expect(killed?.frames.map(({ text }) => text.split(/[,.]/)[0])).toEqual([
      "The ID token has expired",
      "Process A takes the lease",
      "Process A is killed before its token request",
      "Requests that have waited for 5 s get 503 with Retry-After",
      "The lease hasn't changed for 40 s",
      "Process B sends a token request",
      "Process B stores the new tokens and gives the lease back",
      "All 200 requests succeed",
    ]);
    expect(killed?.frames.map(({ requests }) => requests.B)).toContain("unavailable");
  });

  it("shows the provider as unreachable until it is back", () => {
    const frames = played.find(({ name }) => name === "outage")?.frames ?? [];
    const back = frames.findIndex(({ text }) => text.startsWith("The provider is back after 10 s"));
    expect(back).toBeGreaterThan(1);
    expect(frames.map(({ isDown }) => isDown)).toEqual(frames.map((_, at) => at < back));
  });

  it("has a still picture with the same result", () => {
    const killed = played.find(({ name }) => name === "before-request");
    expect(killed?.frames.at(-1)).toMatchObject({
      tokenRequests: OUTCOME.tokenRequests,
      succeeded: OUTCOME.succeeded,
      signedOut: OUTCOME.signedOut,
    });
    expect(OUTCOME).toMatchObject({ requests: REQUESTS, lease: LEASE_MS / 1000 });
  });
});
