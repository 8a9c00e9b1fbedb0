import { describe, it } from "vitest";
import { expectNoMixUps } from "./dpop-mix-ups.js";

// `npx vitest run --config vitest.slow.config.ts test/apis`: a million calls. DPOP_SEED=7 makes those
// of one seed.
const CALLS = 50_000;
const ONE_SEED = process.env["DPOP_SEED"];
const SEEDS =
  ONE_SEED === undefined ? Array.from({ length: 20 }, (_, at) => at + 1) : [Number(ONE_SEED)];

describe("200 users, 3 APIs and 3 processes", () => {
  it.each(SEEDS)(
    "never share a key, a token or an API's nonce (seed %i)",
    { timeout: 7_200_000 },
    async (seed) => {
      await expectNoMixUps({ users: 200, calls: CALLS, seed });
    },
  );
});
