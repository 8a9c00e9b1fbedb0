import { test } from "node:test";
import { memoryStore } from "idpauth";
import { testStore } from "idpauth-conformance";

testStore({
  name: "memory",
  test,
  create() {
    let passed = 0;
    const clock = {
      now: () => Date.now() + passed * 1000,
      monotonic: () => performance.now() + passed * 1000,
      timer: () => () => undefined,
    };
    return {
      store: memoryStore({ clock }),
      now: () => Math.floor(clock.now() / 1000),
      advance: async (seconds) => void (passed += seconds),
    };
  },
});
