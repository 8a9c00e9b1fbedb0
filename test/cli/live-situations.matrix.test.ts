import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { onStage, PROVIDER, settingsFor, SITUATIONS } from "./live-situations.mjs";
import { startTestProvider } from "../../src/testing/provider/test-provider.js";
import { ROOT, runLive } from "./live-run.js";

describe.concurrent("idpauth check --live, on one mistake at a time", () => {
  it.each(SITUATIONS)("$title: exactly $codes", async ({ codes, prepare }) => {
    const folder = mkdtempSync(path.join(tmpdir(), "idpauth-check-"));
    try {
      await onStage(startTestProvider, folder, async (stage) => {
        const { env, store, inFolder = false, clock = 0 } = await prepare(stage);
        const settings = { ...settingsFor(stage.provider), ...env };
        const args = store === undefined ? [] : [`--store=${store}`];
        const report = await runLive(settings, {
          args,
          ahead: clock,
          folder: inFolder ? folder : ROOT,
        });
        expect(report.codes).toEqual(codes);
        expect(report.code).toBe(codes.some((code) => code.startsWith("E")) ? 1 : 0);
        expect(report.output).not.toContain(PROVIDER.clientSecret);
        expect(report.output).not.toContain(settings["SECRET_KEY"]);
        // Nobody has signed in: no code was redeemed, and no token given out.
        expect(stage.provider.issued.filter(({ kind }) => kind !== "code")).toEqual([]);
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
