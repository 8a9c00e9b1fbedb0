import { execFileSync } from "node:child_process";

/** The variables that a POSIX shell sets when it reads these lines of a `.env` file. */
export function shellEnv(lines: string): Record<string, string> {
  const script = 'set -aeu; eval "$LINES_OF_FILE"; unset LINES_OF_FILE; exec env -0';
  const env = { PATH: process.env["PATH"], LINES_OF_FILE: lines };
  const printed = execFileSync("sh", ["-c", script], { env, encoding: "utf8" });
  const pairs = printed.split("\0").flatMap((pair) => {
    const [, name = "", value = ""] = /^(\w+)=(.*)$/s.exec(pair) ?? [];
    return /^(?:|PATH|PWD|OLDPWD|SHLVL|_)$/.test(name) ? [] : [[name, value] as const];
  });
  return Object.fromEntries(pairs);
}
