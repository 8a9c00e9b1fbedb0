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
    rest: {
      p99: 12,
      max: 40,
      idle: { p99: 11, max: 20 },
      unhandled: [],
      resources: { TCPServerWrap: 1 },
      api: { open: 0, sockets: 0, upgraded: 0, rejected: 0 },
      live: { open: 9, cut: 2, late: 0 },
    },
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
        "items 200": 9,
        "download 200": 9,
        "upload 200": 9,
        "events 200": 9,
        "WebSocket 101": 9,
      },
    },
    refreshes: 9,
    apiRefreshes: 9,
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
    [
      "the resident memory grows",
      calm({
        samples: calm().samples.map((sample, index) => ({
          ...sample,
          rss: (90 + index) * MEBIBYTE,
        })),
      }),
      "memory is flat",
    ],
    ["the event loop is blocked", calm({ rest: { ...calm().rest, p99: 61 } }), "event-loop delay"],
    ["a 500 during a fault", trouble({ status: 500 }), "no unexpected 5xx"],
    ["a request without a response", trouble({ status: 0 }), "no unexpected 5xx"],
    ["a 503 without Retry-After", trouble({ isTold: false }), "no unexpected 5xx"],
    ["a 503 long after a fault", trouble({ at: 500 }), "no unexpected 5xx"],
    ["a 502 during another fault than the API's", trouble({ status: 502 }), "no unexpected 5xx"],
    [
      "no upload reached the API",
      calm({ responses: { byWhat: { ...calm().responses.byWhat, "upload 200": 0 } } }),
      "the API got requests",
    ],
    ["the API's token was never refreshed", calm({ apiRefreshes: 0 }), "the API got requests"],
    [
      "the API got another token",
      calm({ rest: { ...calm().rest, api: { ...calm().rest.api, rejected: 1 } } }),
      "the API got requests",
    ],
    [
      "a stream outlived its session",
      calm({ rest: { ...calm().rest, live: { open: 9, cut: 2, late: 1 } } }),
      "a logout cuts",
    ],
    [
      "no logout had a stream to cut",
      calm({ rest: { ...calm().rest, live: { open: 9, cut: 0, late: 0 } } }),
      "a logout cuts",
    ],
    [
      "a connection to the API stays",
      calm({ rest: { ...calm().rest, api: { ...calm().rest.api, sockets: 1 } } }),
      "when the users have left",
    ],
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

  it("excuses a 502 and a broken body while the API drops its connections", () => {
    const faults = [
      { name: "hang", from: 20, to: 40 },
      { name: "reset", isOfApi: true, from: 77, to: 78 },
    ];
    const troubles = [502, 0].map((status) => ({ at: 79, what: "upload", status, isTold: true }));
    expect(missed(calm({ faults, troubles }))).toEqual([]);
    expect(missed(calm({ faults, troubles: [{ ...troubles[0]!, at: 85 }] }))).toHaveLength(1);
  });

  it("excuses what breaks off when sessions end whose new refresh token got lost", () => {
    const faults = [
      { name: "hang", from: 20, to: 40 },
      { name: "reset", losesTokens: true, from: 77, to: 81 },
    ];
    const events = { what: "events that end early", status: 0, isTold: false };
    expect(missed(calm({ faults, troubles: [{ ...events, at: 90 }] }))).toEqual([]);
    expect(missed(calm({ faults, troubles: [{ ...events, at: 70 }] }))).toHaveLength(1);
    expect(missed(calm({ faults, troubles: [{ ...events, at: 114 }] }))).toHaveLength(1);
    expect(missed(calm({ faults, troubles: [{ ...events, status: 502, at: 90 }] }))).toHaveLength(
      1,
    );
  });

  it("lets the heap grow while it is warming up", () => {
    expect(
      missed(calm({ samples: samples((index) => Math.min(20, 5 + index) * MEBIBYTE) })),
    ).toEqual([]);
  });
});
