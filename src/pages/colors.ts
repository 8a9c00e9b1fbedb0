import type { PageColors, SchemeColors } from "./page-options.js";

/** The colors of style.css that stay, by scheme. */
const SCHEMES = {
  light: { card: "#ffffff", text: "#1a2230" },
  dark: { card: "#181e27", text: "#e8ecf3" },
} as const;
type Scheme = keyof typeof SCHEMES;

/** The least contrast of text (WCAG 2.2, success criterion 1.4.3). */
const LEAST_CONTRAST_RATIO = 4.5;

const TINT_SHARE = 0.1;
const STRONGER_SHARE = 0.2;
const LIGHTER_STEP_SHARE = 0.1;

export function isColor(value: unknown): value is string {
  return typeof value === "string" && /^#[0-9a-f]{6}$/i.test(value);
}

/** Returns the contrast ratio of two colors (WCAG 2.2): 1 to 21. */
export function contrast(a: string, b: string): number {
  const [light = 0, dark = 0] = [luminance(a), luminance(b)].sort(
    (first, second) => second - first,
  );
  return (light + 0.05) / (dark + 0.05);
}

/**
 * Returns the rules that put colors into the stylesheet; empty without colors. They consist of
 * `#rrggbb` values only.
 */
export function colorRules({ dark, ...light }: PageColors): string {
  const lightRules = declarations("light", light);
  const darkRules = declarations("dark", { ...dark, ...darkAccent(light, dark) });
  const inDark = darkRules && `@media (prefers-color-scheme: dark) { :root { ${darkRules} } }\n`;
  return `${lightRules && `:root { ${lightRules} }\n`}${inDark}`;
}

/**
 * The accent of the dark scheme, if only that of the light one is given: lightened until it is
 * legible on the dark card.
 */
function darkAccent({ accent }: SchemeColors, dark: SchemeColors = {}): SchemeColors {
  if (accent === undefined || dark.accent !== undefined) return {};
  let share = 0;
  while (share < 1 && !isLegible("dark", mix(accent, "#ffffff", share)))
    share += LIGHTER_STEP_SHARE;
  return { accent: mix(accent, "#ffffff", Math.min(1, share)) };
}

function declarations(scheme: Scheme, { accent, background }: SchemeColors): string {
  const { card, text } = SCHEMES[scheme];
  const values = {
    ...(background !== undefined && { page: background }),
    ...(accent !== undefined && {
      accent,
      "accent-strong": mix(accent, text, STRONGER_SHARE),
      "on-accent":
        contrast(accent, "#ffffff") >= contrast(accent, "#000000") ? "#ffffff" : "#000000",
      tint: mix(card, accent, TINT_SHARE),
    }),
  };
  return Object.entries(values)
    .map(([name, color]) => `--${name}: ${color.toLowerCase()};`)
    .join(" ");
}

/** Whether text of the accent color is legible. The tint has less contrast than the card. */
function isLegible(scheme: Scheme, accent: string): boolean {
  return contrast(accent, mix(SCHEMES[scheme].card, accent, TINT_SHARE)) >= LEAST_CONTRAST_RATIO;
}

/** @param share of the second color, 0 to 1 */
function mix(first: string, second: string, share: number): string {
  const other = rgb(second);
  const mixed = rgb(first).map((value, index) =>
    Math.round(value + ((other[index] ?? 0) - value) * share),
  );
  return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

/** Red, green and blue, 0 to 255. */
function rgb(color: string): readonly [number, number, number] {
  const value = Number.parseInt(color.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = rgb(color).map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
