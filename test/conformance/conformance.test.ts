import { describe, it } from "vitest";
import { conformanceModules } from "./modules.js";
import { Stage } from "./relying-party.js";

// The relying party's modules of the OpenID Foundation's conformance suite, replayed by the test
// provider against an Express application. docs/evidence/conformance.md is made of what they see:
// `npm run conformance`.

declare module "vitest" {
  interface TaskMeta {
    conformance?: { module: string; plans: readonly string[]; demands: string; seen?: string };
  }
}

describe("the suite's module", () => {
  it.for(conformanceModules.map((replayed) => [replayed.module, replayed] as const))(
    "[%s]",
    async ([module, { plans, demands, run }], { task }) => {
      task.meta.conformance = { module, plans, demands };
      const stage = new Stage();
      const seen = await run(stage).catch(async (error: unknown) => {
        // What the module found wrong counts, not what is wrong at its end because of that.
        await stage.end().catch(() => undefined);
        throw error;
      });
      await stage.end();
      task.meta.conformance.seen = seen;
    },
  );
});
