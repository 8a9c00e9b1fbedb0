const UNITS = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
] as const;

/** A number of seconds in words: "8 hours", "1 hour 30 minutes", "1 day 1 second". */
export function spokenDuration(seconds: number): string {
  let rest = Math.max(0, Math.floor(seconds));
  const parts: string[] = [];
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(counted(count, unit));
  }
  return parts.length === 0 ? counted(0, "second") : parts.join(" ");
}

/** A number of seconds in its largest unit, rounded down: "2 hours", "less than a minute". */
export function roughDuration(seconds: number): string {
  const [unit, size] = UNITS.find(([, length]) => length <= seconds) ?? UNITS[3];
  return size < 60 ? "less than a minute" : counted(Math.floor(seconds / size), unit);
}

export function counted(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}
