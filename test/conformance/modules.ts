import { discoveryModules } from "./discovery-and-keys.js";
import { fapi2Modules } from "./fapi2.js";
import { idTokenModules } from "./id-tokens.js";
import { logoutModules } from "./logout.js";
import { refreshModules } from "./refresh.js";
import type { ConformanceModule } from "./relying-party.js";
import { userinfoModules } from "./userinfo.js";

const byName = (one: ConformanceModule, other: ConformanceModule) =>
  one.module < other.module ? -1 : 1;

/** Every module that is replayed, by its name. */
export const conformanceModules: readonly ConformanceModule[] = [
  ...idTokenModules,
  ...userinfoModules,
  ...discoveryModules,
  ...refreshModules,
  ...logoutModules,
  ...fapi2Modules,
].sort(byName);
