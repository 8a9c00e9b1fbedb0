import { describe, expect, it } from "vitest";
import { CONFIGURATIONS } from "../../scripts/interop/npm/configurations.mjs";
import { betterAuth, oidcProvider } from "../../scripts/interop/npm/servers.mjs";
import { STEPS } from "../../scripts/interop/npm/steps.mjs";
import { readResults } from "../../scripts/interop/results.mjs";

describe.each([oidcProvider, betterAuth])(
  "$key, which is installed from npm",
  ({ key, ...server }) => {
    const kept = readResults()[key];

    it("was run in the version that the lock file installs; if not, run `npm run interop -- oidc-provider better-auth`", () => {
      expect(kept?.version).toBe(server.version);
      expect(kept?.notes).toBe(server.notes);
    });

    it("has the expected result of each configuration and step", () => {
      const shown = kept?.steps.map(({ configuration, title, result }) => [
        configuration,
        title,
        result,
      ]);
      const own = CONFIGURATIONS.filter(({ program }) => program === key);
      const expected = own.flatMap(({ title: configuration, possible, expected = {} }) =>
        STEPS.slice(0, possible).map(({ title }, index) => [
          configuration,
          title,
          expected[index + 1]?.expected ?? "good",
        ]),
      );
      expect(shown).toEqual(expected);
    });
  },
);
