import { named, type UnnamedFinding } from "../config/findings.js";
import type { ReadSourced, Settings } from "../config/read-settings.js";

/**
 * Returns what reads a provider from a source, and refuses one that can't be used here.
 *
 * @param mistakeIn returns why; undefined: it can be used
 */
export function refusing(
  read: ReadSourced,
  mistakeIn: (settings: Settings) => UnnamedFinding | undefined,
): ReadSourced {
  return (key, options) => {
    const reading = read(key, options);
    const { provider, findings } = reading;
    const mistake = provider && mistakeIn(provider.settings);
    return mistake === undefined
      ? reading
      : { provider: undefined, findings: [...findings, named(mistake, provider?.names)] };
  };
}
