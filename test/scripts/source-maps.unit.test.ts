import { decode } from "@jridgewell/sourcemap-codec";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { mapOfLines } from "../../scripts/source-maps.mjs";

const SOURCE = `import type { Log } from "./log.js";

/** Refuses the user. */
export function deny(
  message?: string,
): Log {
  return { message };
}

export interface Session {
  readonly user: string;
  ends(at: number): void;
}
export const CLOCK: Log = {};
export class Fault extends Error {
  static readonly code: string = "fault";
}
`;

/** The declarations of SOURCE, and their map as the package has it. */
function declarations() {
  const { outputText, sourceMapText = "" } = ts.transpileDeclaration(SOURCE, {
    compilerOptions: { declarationMap: true },
  });
  const map = JSON.parse(sourceMapText) as { mappings: string };
  const lines = decode((JSON.parse(mapOfLines(map, outputText)) as typeof map).mappings);
  return { text: outputText.split("\n"), lines, whole: decode(map.mappings) };
}

const lineOf = (name: string, lines: readonly string[]) =>
  lines.findIndex((line) =>
    new RegExp(`^(?! \\*).*\\b${name}\\b`).test(line.replace(/^\/\*.*/, "")),
  );

describe("the maps of declarations", () => {
  // An editor takes the segment at a name's own column, or else the next one.
  it.each(["deny", "Session", "user", "ends", "CLOCK", "Fault", "code"])(
    "lead from %s to its line of the source",
    (name) => {
      const { text, lines } = declarations();
      const at = lineOf(name, text);
      const column = text[at]?.search(new RegExp(`\\b${name}\\b`)) ?? -1;
      const segment = lines[at]?.find(([start]) => start >= column);
      expect(segment?.[2]).toBe(lineOf(name, SOURCE.split("\n")));
    },
  );

  it("leave out the other columns", () => {
    const { lines, whole } = declarations();
    expect(lines.flat().length).toBeLessThan(whole.flat().length / 2);
  });
});
