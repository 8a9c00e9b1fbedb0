import { describe, expect, it } from "vitest";
import { idpauth } from "../../src/cli/check-command.js";
import { checkIo } from "./live-run.js";

const SECRET = "an-example-of-a-key-with-32-bytes!";
const COMPLETE = {
  SECRET_KEY: SECRET,
  IDP_CLIENT_ID: "client.apps.googleusercontent.com",
  IDP_CLIENT_SECRET: "client-secret",
  SCOPE: "openid email profile",
  BASE_URL: "https://app.example",
};

const FILES: Record<string, string> = {
  ".env": `SECRET_KEY="${SECRET}"\nIDP_CLIENT_ID=client.apps.googleusercontent.com\nIDP_CLIENT_SECRET=client-secret # the client's\nBASE_URL=https://app.example\n`,
};
FILES["marked.env"] = `\uFEFF${FILES[".env"]!}`;

function run(env: Record<string, string | undefined>, ...argv: string[]) {
  const written = { stdout: "", stderr: "" };
  const code = idpauth(argv, {
    env,
    write: (text, stream) => (written[stream] += text),
    readText: (path) => {
      const text = FILES[path];
      if (text === undefined) throw new Error("no such file");
      return text;
    },
    io: checkIo(),
  });
  return { code, ...written };
}

describe("idpauth check", () => {
  it("exits with 0 and says so when nothing is wrong", () => {
    const { code, stdout, stderr } = run(COMPLETE, "check");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^idpauth check: 0 errors, 0 warnings\n/);
  });

  it("exits with 0 when there are warnings only", () => {
    const { code, stdout } = run({ ...COMPLETE, SCOPE: undefined }, "check");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^idpauth check: 0 errors, 1 warning\n/);
    expect(stdout).toContain("defaults:\n  E004 warning: SCOPE");
  });

  it("exits with 1 on errors, and lists every finding with its remedy, by group", () => {
    const { code, stdout, stderr } = run({ IDP_SESSION_MAX_AGE: "soon" }, "check");
    expect([code, stderr]).toEqual([1, ""]);
    expect(stdout).toMatch(/^idpauth check: 3 errors, 2 warnings\n/);
    const places = [
      "project settings:",
      "E006 error:",
      "E001 error:",
      "E003 error:",
      "W001 warning:",
      "defaults:",
      "E004 warning:",
    ].map((text) => stdout.indexOf(text));
    expect(places).not.toContain(-1);
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(stdout).toContain("Set SECRET_KEY to a long random string");
  });

  it("--env-file reads settings from a file, and the environment wins over it", () => {
    expect(run({ SCOPE: "openid" }, "check", "--env-file=.env")).toMatchObject({
      code: 0,
      stderr: "",
    });
    expect(run({ SCOPE: "openid" }, "check").code).toBe(1);
    expect(
      run({ SCOPE: "openid", IDP_CLIENT_ID: "" }, "check", "--env-file=.env").stdout,
    ).toContain("E003");
  });

  it.each([["--env-file=missing"], ["--env-file="], ["--env-file=.env", "--env-file=.env"]])(
    "%s is wrong usage, and is no result",
    (...flags) => {
      const { code, stdout, stderr } = run(COMPLETE, "check", ...flags);
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toMatch(/^idpauth: /);
    },
  );

  it("--env-file with a byte order mark loses no setting, and gets a message about it", () => {
    const { code, stdout, stderr } = run(
      { SCOPE: "openid" },
      "check",
      "--json",
      "--env-file=marked.env",
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ ok: true });
    expect(stderr).toMatch(/^idpauth: the file "marked\.env" starts with a byte order mark.*\n$/);
  });

  it("names what it cannot see", () => {
    const { stdout } = run(COMPLETE, "check");
    const notSeen = stdout.slice(stdout.indexOf("not checked:"));
    expect(notSeen).toMatch(/Options in code .*--module=FILE/);
    expect(notSeen).toContain("E002");
  });

  it("--json writes one object with the same findings", () => {
    const { code, stdout } = run({ ...COMPLETE, SECRET_KEY: " ", SCOPE: "" }, "check", "--json");
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual({
      ok: false,
      errors: 1,
      warnings: 1,
      findings: [
        {
          code: "E001",
          severity: "error",
          group: "project settings",
          message: expect.any(String),
          remedy: expect.any(String),
        },
        {
          code: "E004",
          severity: "warning",
          group: "defaults",
          message: expect.any(String),
          remedy: expect.any(String),
        },
      ],
      notSeen: expect.arrayContaining([expect.stringContaining("E002")]),
    });
    expect(JSON.parse(run(COMPLETE, "--json", "check").stdout)).toMatchObject({
      ok: true,
      errors: 0,
      warnings: 0,
      findings: [],
    });
  });

  it("never writes a secret's content", () => {
    for (const env of [
      { ...COMPLETE, SECRET_KEY: "hunter2" },
      { ...COMPLETE, IDP_CLIENT_SECRET: "hunter2", SCOPE: "email" },
      { ...COMPLETE, SECRET_KEY_FALLBACKS: "hunter2 hunter2" },
      { ...COMPLETE, BASE_URL: "https://me:hunter2@app.example" },
    ]) {
      for (const argv of [["check"], ["check", "--json"]])
        expect(run(env, ...argv).stdout).not.toContain("hunter2");
    }
  });
});

describe("usage", () => {
  it.each([["--help"], ["-h"], ["check", "--help"], ["check", "-h", "--json"]])(
    "%s %s writes the help and exits with 0",
    (...argv) => {
      const { code, stdout, stderr } = run(
        {},
        ...argv.filter((argument) => typeof argument === "string"),
      );
      expect([code, stderr]).toEqual([0, ""]);
      expect(stdout).toMatch(/^Usage: idpauth check \[--env-file=FILE\] \[--json\]/);
    },
  );

  it.each<[string[], string]>([
    [[], "no command is given"],
    [["--json"], "no command is given"],
    [["chek"], 'unknown command "chek"'],
    [["check", "--jsn"], 'unknown option "--jsn"'],
    [["check", "-v"], 'unknown option "-v"'],
    [["check", "--env-file", ".env"], "--env-file needs =FILE"],
    [["check", "--env-file="], "--env-file needs =FILE"],
    [["check", "--live", "--store", "redis://u:hunter2@db"], "--store needs =STORE"],
    [["check", "again"], "too many arguments"],
    [["check", "--module", "./auth.mjs"], "--module needs =FILE"],
    [["check", "--module=./a.mjs", "--module=./b.mjs"], "--module is given more than once"],
    [
      ["check", "--module=postgres://u:hunter2@db"],
      "--module isn't the path of a JavaScript module, such as ./auth.mjs",
    ],
    // It may be an address with a password.
    [["check", "--live", "--stor=redis://u:hunter2@db"], 'unknown option "--stor=…"'],
    [["check", "--live", "--store:redis://u:hunter2@db"], 'unknown option "--store…"'],
    [
      ["check", "--live", "--store=mongodb+srv://u:hunter2@db/x.js"],
      "--store has an unknown form. It takes redis://…, rediss://…, postgres://…, sqlite:PATH, ./module.mjs or env:NAME",
    ],
  ])("%j exits with 2 and says why on stderr", (argv, message) => {
    const { code, stdout, stderr } = run(COMPLETE, ...argv);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(`idpauth: ${message}\n`);
    expect(stderr).toContain("Usage: idpauth check");
    expect(stderr).not.toContain("hunter2");
  });
});
