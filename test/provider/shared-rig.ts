import { afterAll, beforeAll, beforeEach } from "vitest";
import type { TestProviderOptions } from "../../src/testing/provider/test-provider.js";
import { renewed, startRig, type Rig } from "./rig.js";

/** The rig of the running test, in a file that calls {@link shareRig}. */
export let rig: Rig;

/** One provider for all tests of a file, which is for each of them as if it had just been started. */
export function shareRig(options: TestProviderOptions = {}): void {
  let settings: Rig["idp"]["settings"];
  beforeAll(async () => {
    rig = await startRig(options);
    settings = { ...rig.idp.settings };
  });
  beforeEach(() => {
    rig = renewed(rig, settings);
  });
  afterAll(async () => {
    rig.idp.clearFaults();
    await rig.idp.stop();
  });
}
