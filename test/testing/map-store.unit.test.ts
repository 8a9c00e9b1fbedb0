import { it } from "vitest";
import { testStore } from "idpauth-conformance";
import { MapStore } from "./map-store.js";

testStore({
  name: "map",
  test: it,
  // A Map is in one process, and has no server that could fail. This store has none of the optional
  // methods.
  without: ["another", "outage", "getMany", "ends", "lossyIndex"],
  create() {
    let now = 1_800_000_000;
    return {
      store: new MapStore({ now: () => now * 1000 }),
      now: () => now,
      advance: async (seconds) => void (now += seconds),
    };
  },
});
