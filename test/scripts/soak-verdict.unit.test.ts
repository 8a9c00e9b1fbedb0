import { describe, expect, it } from "vitest";
import { judge } from "../../soak/verdict.mjs";

const MEBIBYTE = 1024 * 1024;

type Run = Parameters<typeof judge>[0];

/** A run of 15 minutes that meets every condition. */
function calm(changes: Partial<Run> = {}): Run {
  return {
    samples: Array.from({ length: 90 }, (_, index) => ({
      at: 10 * (index + 1),
      heapUsed: 20 * MEBIBYTE,
      rss: 90 * MEBIBYTE,
    })),
    planned: ["hang", "reset"],
    rest: { p99: 12, max: 40, unhandled: [], resources: { TCPServerWrap: 1 } },
    before: { TCPServerWrap: 1 },
    faults: [
      { name: "hang", from: 20, to: 40 },
      { name: "reset", from: 77, to: 90 },
    ],
    troubles: [{ at: 30, what: "probe", status: 503, isTold: true }],
    endedWithin: 0.3,
    responses: {
      byWhat: {
        "login 302": 9,
        "callback 302": 9,
        "reports 200": 9,
        "probe 200": 9,
        "logout 200": 9,
      },
    },
    refreshes: 9,
    violations: [],
    ...changes,
  };
}

const samples = (heapUsed: (index: number) => number) =>
  calm().samples.map((sample, index) => ({ ...sample, heapUsed: heapUsed(index) }));
const trouble = (changes: object) =>
  calm({ troubles: [{ at: 30, what: "probe", status: 503, isTold: true, ...changes }] });
const missed = (run: Run) =>
  judge(run)
    .filter(({ isMet }) => !isMet)
    .map(({ name }) => name);

describe("the result of a soak", () => {
  it("finds nothing in a good run", () => {
    expect(missed(calm())).toEqual([]);
  });

  it.each<[string, Run, string]>([
    [
      "no user came back",
      calm({ responses: { byWhat: { ...calm().responses.byWhat, "callback 302": 0 } } }),
      "users signed in",
    ],
    ["no user was refreshed", calm({ refreshes: 0 }), "users signed in"],
    [
      "a fault of the plan never happened",
      calm({ planned: ["hang", "reset", "away"] }),
      "every planned fault happened",
    ],
    [
      "a short run had no fault",
      calm({ samples: calm().samples.slice(0, 12), faults: [], troubles: [] }),
      "at least one fault happened",
    ],
    [
      "the heap grows",
      calm({ samples: samples((index) => (20 + index / 10) * MEBIBYTE) }),
      "memory is flat",
    ],
    ["the event loop is blocked", calm({ rest: { ...calm().rest, p99: 50 } }), "event-loop delay"],
    ["a 500 during a fault", trouble({ status: 500 }), "no unexpected 5xx"],
    ["a request without a response", trouble({ status: 0 }), "no unexpected 5xx"],
    ["a 503 without Retry-After", trouble({ isTold: false }), "no unexpected 5xx"],
    ["a 503 long after a fault", trouble({ at: 500 }), "no unexpected 5xx"],
    [
      "the provider saw a forbidden request",
      calm({ violations: ["a secret in a URL"] }),
      "the provider received no forbidden request",
    ],
    [
      "an unhandled rejection",
      calm({ rest: { ...calm().rest, unhandled: ["TypeError"] } }),
      "no unhandled rejection",
    ],
    [
      "a socket that stays",
      calm({ rest: { ...calm().rest, resources: { TCPServerWrap: 1, TCPSocketWrap: 1 } } }),
      "no leaked socket",
    ],
    [
      "a process that has to be killed",
      calm({ endedWithin: undefined }),
      "the process ends by itself",
    ],
  ])("finds that %s", (_what, run, name) => {
    expect(missed(run)).toEqual([expect.stringContaining(name)]);
  });

  it("lets the heap grow while it is warming up", () => {
    expect(
      missed(calm({ samples: samples((index) => Math.min(20, 5 + index) * MEBIBYTE) })),
    ).toEqual([]);
  });
});
