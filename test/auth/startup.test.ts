import { expect, it } from "vitest";
import { createIdpAuth } from "../../src/adapter.js";
import { memoryStore } from "../../src/stores/memory/memory-store.js";

it("the framework's own sessions together with a store keep the application from starting", () => {
  const auth = createIdpAuth(
    { env: {}, session: "host", store: memoryStore() },
    { name: "plain", request: () => null as never },
  );
  expect(() => auth.start()).toThrow(/\bE009\b/);
});
