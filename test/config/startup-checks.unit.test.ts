import { describe, expect, it } from "vitest";
import { CHECK_GROUPS, CHECKS as STARTUP_CHECKS } from "../../src/config/check-table.js";
import { check } from "../../src/config/findings.js";
import {
  groupOf,
  inReportOrder,
  runChecks,
  type FrameworkFacts,
} from "../../src/config/startup-checks.js";
import { SETTING_NAMES, textWith } from "../../src/config/setting-names.js";
import { LIVE_CHECKS, liveCheck } from "../../src/live/live-check-table.js";
import { readSettings } from "../../src/config/read-settings.js";

const CHECKS = { ...STARTUP_CHECKS, ...LIVE_CHECKS };

const COMPLETE = {
  SECRET_KEY: "an-example-of-a-key-with-32-bytes!",
  IDP_CLIENT_ID: "client.apps.googleusercontent.com",
  IDP_CLIENT_SECRET: "client-secret",
  SCOPE: "openid email profile",
  BASE_URL: "https://app.example",
};

const PRODUCTION = readSettings({}, COMPLETE);
const DEBUG = readSettings({ debug: true, baseUrl: "http://localhost:3000" }, COMPLETE);
const DEBUG_ELSEWHERE = readSettings({ debug: true, baseUrl: "https://app.example" }, COMPLETE);
const DEBUG_ANYWHERE = readSettings({ debug: true, baseUrl: null }, COMPLETE);
const BROKEN = readSettings({}, { ...COMPLETE, SECRET_KEY: "" });

const FACTS: FrameworkFacts = {
  sessionMiddleware: "not-applicable",
  sessionKind: "bundled",
  storeGiven: true,
  frameworkName: "Express",
};

function codes(result: ReturnType<typeof readSettings>, facts: Partial<FrameworkFacts>): string[] {
  return runChecks(result, { ...FACTS, ...facts }).map((finding) => finding.code);
}

describe("the table of checks", () => {
  it.each([
    ["E001", "project settings", "error"],
    ["E002", "project middlewares", "error"],
    ["E003", "project settings", "error"],
    ["E004", "defaults", "warning"],
    ["E005", "project settings", "error"],
  ] as const)("%s is in group %s, and of severity %s", (code, group, severity) => {
    expect(CHECKS[code]).toMatchObject({ group, severity });
  });

  it("E codes are errors, except E004; W codes are warnings", () => {
    for (const [code, { severity }] of Object.entries(CHECKS)) {
      expect([code, severity]).toEqual([
        code,
        code.startsWith("E") && code !== "E004" ? "error" : "warning",
      ]);
    }
  });

  it("the codes are in order: errors, warnings, and from 101 on those that only `idpauth check --live` finds", () => {
    const rank = (code: string) => `${code.slice(1) > "100" ? "live" : "all"} ${code}`;
    const codes = Object.keys(CHECKS);
    expect(codes).toEqual(codes.toSorted((one, other) => (rank(one) < rank(other) ? -1 : 1)));
  });

  it("each cause and remedy consists of sentences", () => {
    for (const row of Object.values(CHECKS)) {
      expect(textWith(SETTING_NAMES, row.cause)).toMatch(/\.$/);
      expect(textWith(SETTING_NAMES, row.remedy)).toMatch(/\.$/);
    }
  });

  it("a finding has the message and remedy of the table, unless it has its own", () => {
    expect(check("E001")).toEqual({
      code: "E001",
      severity: "error",
      message: CHECKS.E001.cause,
      remedy: CHECKS.E001.remedy,
    });
    expect(liveCheck("E108").remedy).toBe(CHECKS.E108.remedy);
    expect(check("W003", "this", "that")).toEqual({
      code: "W003",
      severity: "warning",
      message: "this",
      remedy: "that",
    });
  });
});

describe("bundled sessions", () => {
  it("have no findings with a store", () => {
    for (const sessionMiddleware of [
      "present",
      "absent",
      "cookie-only",
      "unknown",
      "not-applicable",
    ] as const) {
      expect(codes(PRODUCTION, { sessionMiddleware })).toEqual([]);
    }
  });

  it.each([
    ["outside debug mode", PRODUCTION, ["W005"]],
    ["in debug mode on this machine", DEBUG, []],
    ["in debug mode elsewhere", DEBUG_ELSEWHERE, ["W010", "W005"]],
    ["in debug mode without BASE_URL", DEBUG_ANYWHERE, ["W001", "W010", "W005"]],
    ["with settings that do not even say the mode", BROKEN, ["E001"]],
  ])("without a store, %s", (_name, result, expected) => {
    expect(codes(result, { storeGiven: false })).toEqual(expected);
  });
});

describe('[START-1] session: "host"', () => {
  const HOST = { sessionKind: "host", storeGiven: false } as const;

  it.each<[FrameworkFacts["sessionMiddleware"], string[]]>([
    ["present", ["W006"]],
    ["absent", ["E002", "W006"]],
    ["cookie-only", ["E002", "W006"]],
    ["not-applicable", ["E002", "W006"]],
    ["unknown", ["W006", "W008"]],
  ])("with a session middleware that is %s: %j", (sessionMiddleware, expected) => {
    expect(codes(PRODUCTION, { ...HOST, sessionMiddleware }).sort()).toEqual(expected);
  });

  it.each(["backchannelLogout", "frontchannelLogout", "sessionsPage"] as const)(
    "together with %s is E020, which names the setting",
    (name) => {
      const result = readSettings({ [name]: true }, COMPLETE);
      const findings = runChecks(result, { ...FACTS, ...HOST, sessionMiddleware: "present" });
      expect(findings.map(({ code }) => code)).toEqual(["E020", "W006"]);
      expect(findings[0]!.message).toContain(`(option ${name})`);
      expect(codes(result, {})).toEqual([]);
    },
  );

  it("together with dpop is E038, of each provider that has it", () => {
    const facts = { ...FACTS, ...HOST, sessionMiddleware: "present" } as const;
    const single = runChecks(readSettings({ dpop: true }, COMPLETE), facts);
    expect(single.map(({ code }) => code)).toEqual(["E038", "W006"]);
    const { IDP_CLIENT_ID: _id, IDP_CLIENT_SECRET: _secret, ...shared } = COMPLETE;
    const client = (issuer: string) => ({ issuer, clientId: "client", clientSecret: "secret" });
    const providers = {
      staff: { ...client("https://staff.example"), dpop: true },
      guests: client("https://guests.example"),
    };
    const several = runChecks(readSettings({ providers }, shared), facts);
    const [finding, ...others] = several.filter(({ code }) => code === "E038");
    expect([finding?.message, others]).toEqual([expect.stringContaining("staff"), []]);
  });

  it("allows logoutAtProvider", () => {
    expect(
      codes(readSettings({ logoutAtProvider: true }, COMPLETE), {
        ...HOST,
        sessionMiddleware: "present",
      }),
    ).toEqual(["W006"]);
  });

  it("together with a store is E009", () => {
    expect(codes(PRODUCTION, { ...HOST, sessionMiddleware: "present", storeGiven: true })).toEqual([
      "E009",
      "W006",
    ]);
  });

  it("E002 names the framework and has the framework's own remedy", () => {
    const facts = {
      ...FACTS,
      ...HOST,
      sessionMiddleware: "absent",
      middlewareRemedy: "Call app.use(session(…)) first.",
    } as const;
    expect(runChecks(PRODUCTION, facts)[0]).toMatchObject({
      code: "E002",
      severity: "error",
      remedy: "Call app.use(session(…)) first.",
    });
    expect(runChecks(PRODUCTION, facts)[0]!.message).toContain("Express");
    const { middlewareRemedy: _, ...without } = facts;
    expect(runChecks(PRODUCTION, without)[0]!.remedy).toBe(CHECKS.E002.remedy);
  });

  it("E002 refuses cookie-only sessions, since the record is stored server-side", () => {
    const [finding] = runChecks(PRODUCTION, {
      ...FACTS,
      ...HOST,
      sessionMiddleware: "cookie-only",
    });
    expect(finding!.message).toMatch(/cookie-only.*server-side/);
  });

  it("W006 says in one sentence that a write can undo a logout", () => {
    expect(CHECKS.W006.cause).toMatch(/^[^.]*compare-and-swap[^.]*undo a logout\.$/);
  });
});

describe("the report", () => {
  it("lists errors first, and in each severity project settings, project middlewares, defaults", () => {
    const result = readSettings({ scope: [], nonsense: 1 } as never, {
      SECRET_KEY: "short",
      IDP_SESSION_MAX_AGE: "0",
    });
    const facts = {
      sessionKind: "host",
      storeGiven: true,
      sessionMiddleware: "absent",
    } as const;
    expect(codes(result, facts)).toEqual([
      "E010",
      "E003",
      "E002",
      "E009",
      "W002",
      "W001",
      "W003",
      "W006",
      "E004",
    ]);
  });

  it("keeps the order of findings of one group, and puts an unknown code into the project settings", () => {
    const finding = (code: string, message: string) => ({
      code,
      severity: "warning" as const,
      message,
      remedy: "",
    });
    const findings = [
      finding("E004", "1"),
      finding("W003", "2"),
      finding("X999", "3"),
      finding("W005", "4"),
      finding("W003", "5"),
    ];
    expect(inReportOrder(findings).map(({ message }) => message)).toEqual([
      "2",
      "3",
      "5",
      "4",
      "1",
    ]);
    expect(groupOf(finding("toString", ""))).toBe("project settings");
  });

  it("has a group for every code", () => {
    for (const [code, { group }] of Object.entries(CHECKS)) {
      expect(CHECK_GROUPS).toContain(group);
      expect(groupOf({ code, severity: "error", message: "", remedy: "" })).toBe(group);
    }
  });
});

describe("W022, for a client ID that isn't Google's", () => {
  const found = (env: Record<string, string>, options = {}) =>
    readSettings(options, { ...COMPLETE, ...env }).findings.map(({ code }) => code);

  it.each<[string, Record<string, string>, object, string[]]>([
    ["with the default issuer", { IDP_CLIENT_ID: "client" }, {}, ["W022"]],
    ["with a blank issuer", { IDP_CLIENT_ID: "client", IDP_ISSUER: " " }, {}, ["W022"]],
    ["in code, with the default issuer", {}, { clientId: "client" }, ["W022"]],
    [
      "with an issuer, even Google's",
      { IDP_CLIENT_ID: "client", IDP_ISSUER: "https://accounts.google.com" },
      {},
      [],
    ],
    [
      "with an issuer that is refused",
      { IDP_CLIENT_ID: "client", IDP_ISSUER: "login.example" },
      {},
      ["E006"],
    ],
    ["that is missing", { IDP_CLIENT_ID: "" }, {}, ["E003"]],
    [
      "beside several providers",
      { IDP_CLIENT_ID: "client", IDP_CLIENT_SECRET: "" },
      {
        providers: {
          staff: { issuer: "https://login.example", clientId: "staff", clientSecret: "secret" },
        },
      },
      ["W021"],
    ],
  ])("%s", (_name, env, options, expected) => {
    expect(found(env, options).filter((code) => code !== "W004")).toEqual(expected);
  });
});

describe("the test provider's settings", () => {
  const TEST = {
    ...COMPLETE,
    SECRET_KEY: "a fixed key, for tests and nowhere else",
    SCOPE: "openid offline_access",
    IDP_ISSUER: "http://127.0.0.1:4567",
    BASE_URL: "",
  };
  const WITHOUT_STORE = { storeGiven: false };

  it("don't lead to warnings about an address and a store, which a test doesn't need", () => {
    expect(codes(readSettings({}, TEST), WITHOUT_STORE)).toEqual([]);
    const several = {
      ...TEST,
      IDP_PROVIDERS: "staff",
      IDP_PROVIDER_STAFF_ISSUER: TEST.IDP_ISSUER,
      IDP_PROVIDER_STAFF_CLIENT_ID: "client",
      IDP_PROVIDER_STAFF_CLIENT_SECRET: "secret",
      IDP_ISSUER: "",
      IDP_CLIENT_ID: "",
      IDP_CLIENT_SECRET: "",
    };
    expect(codes(readSettings({}, several), WITHOUT_STORE)).toEqual([]);
  });

  it("keep every other warning", () => {
    const ending = { ...TEST, IDP_SESSION_IDLE_TIMEOUT: "0" };
    expect(codes(readSettings({}, ending), WITHOUT_STORE)).toEqual(["W003"]);
    const frameworkSessions = { sessionKind: "host", storeGiven: false } as const;
    expect(
      codes(readSettings({}, TEST), { ...frameworkSessions, sessionMiddleware: "present" }),
    ).toEqual(["W006"]);
  });

  it.each([
    ["another key", { SECRET_KEY: COMPLETE.SECRET_KEY }],
    ["a provider elsewhere", { IDP_ISSUER: "https://idp.example" }],
  ])("with %s, all warnings stay", (_what, changed) => {
    const found = codes(readSettings({}, { ...TEST, ...changed }), WITHOUT_STORE);
    expect(found).toContain("W001");
  });
});

describe("what a store says of its options", () => {
  const problem = { message: "Something is wrong.", remedy: "Correct it." };

  it("is E012, or W026 if it's only worth a warning", () => {
    const storeProblems = [problem, { ...problem, isWarning: true }];
    expect(runChecks(PRODUCTION, { ...FACTS, storeProblems })).toMatchObject([
      { code: "E012", severity: "error", ...problem },
      { code: "W026", severity: "warning", ...problem },
    ]);
  });
});
