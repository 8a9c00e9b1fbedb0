import { readdirSync } from "node:fs";
import path from "node:path";
import type { ConformanceModule } from "./relying-party.js";

/** Every module that is replayed, by its file: what lies in this folder and is named as the suite names its modules. */
export async function conformanceModules(): Promise<ConformanceModule[]> {
  const names = readdirSync(import.meta.dirname)
    .filter((file) => /^(?:oidcc|fapi2)-.*\.ts$/.test(file))
    .map((file) => path.basename(file, ".ts"));
  return Promise.all(
    names.sort().map(async (name) => {
      const { default: replayed } = (await import(/* @vite-ignore */ new URL(`${name}.ts`, import.meta.url).href)) as {
        default: ConformanceModule;
      };
      if (replayed.module !== name) throw new Error(`${name}.ts replays a module of another name: ${replayed.module}`);
      return replayed;
    }),
  );
}
