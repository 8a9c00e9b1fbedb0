import { describe, it } from "vitest";
import { expectNoMixUps } from "./dpop-mix-ups.js";

// 200 users and a million calls: dpop-mix-ups.slow.ts.
describe("30 users, 3 APIs and 3 processes", () => {
  it("never share a key, a token or an API's nonce", async () => {
    await expectNoMixUps({ users: 30, calls: 2_000, seed: 1 });
  });
});
