/** The name of a browser's device: what its `User-Agent` header says without its versions. Pure. */

// The first row that fits counts: most browsers also call themselves Chrome or Safari.
const BROWSERS: readonly (readonly [string, RegExp])[] = [
  ["Edge", /\bEdg(?:A|iOS)?\//],
  ["Opera", /\bOPR\//],
  ["Samsung Internet", /\bSamsungBrowser\//],
  ["Firefox", /\b(?:Firefox|FxiOS)\//],
  ["Chrome", /\b(?:Headless)?(?:Chrome|CriOS)\//],
  // Other systems' browsers have its engine, too.
  ["Safari", /\((?:iPhone|iPad|Macintosh)\b.* Version\/[\d.]+ (?:Mobile\/\w+ )?Safari\//],
];

const SYSTEMS: readonly (readonly [string, RegExp])[] = [
  ["iPhone", /\biPhone\b/],
  ["iPad", /\biPad\b/],
  ["Android", /\bAndroid\b/],
  ["Windows", /\bWindows\b/],
  ["Mac", /\bMacintosh\b/],
  ["ChromeOS", /\bCrOS\b/],
  ["Linux", /\bLinux\b/],
];

/** Browsers send about 130 characters. */
const MAX_READ_LENGTH = 512;

/** The two parts of a device's name. */
export interface Device {
  readonly browser: string;
  readonly system: string;
}

/**
 * Returns the name of a browser's device, such as "Firefox on Linux", or the half of it that is
 * known. Null if neither is.
 */
export function deviceName(userAgent = ""): string | null {
  const text = userAgent.slice(0, MAX_READ_LENGTH);
  const nameIn = (table: typeof BROWSERS) => table.find(([, pattern]) => pattern.test(text))?.[0];
  const [browser, system] = [nameIn(BROWSERS), nameIn(SYSTEMS)];
  return browser !== undefined && system !== undefined
    ? `${browser} on ${system}`
    : (browser ?? system ?? null);
}

/** Returns the parts of a name that {@link deviceName} gave; undefined for every other text. */
export function deviceOf(name: string): Device | undefined {
  const [browser = "", system = "", ...rest] = name.split(" on ");
  const isIn = (table: typeof BROWSERS, value: string) => table.some(([known]) => known === value);
  return rest.length === 0 && isIn(BROWSERS, browser) && isIn(SYSTEMS, system)
    ? { browser, system }
    : undefined;
}
