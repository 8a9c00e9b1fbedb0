import {
  DETAIL_FIELDS,
  EVENT_FIELDS,
  EVENT_TABLE,
  LINE_FIELDS,
} from "../../scripts/event-tables.mjs";
import { ERRORS } from "../../src/errors.js";
import type { Events, LogEntry } from "../../src/index.js";

type Fields = Readonly<Record<string, unknown>>;

export interface HeardEvent {
  readonly name: keyof Events;
  readonly event: Fields;
}

/** What an event contains that the tables don't, and what it lacks. */
export function mistakesInEvent({ name, event }: HeardEvent): string[] {
  const presence: Fields = EVENT_TABLE[name].fields;
  const rows: Readonly<Record<string, { readonly type: string }>> = EVENT_FIELDS;
  return [
    ...Object.entries(event).flatMap(([field, value]) => {
      if (presence[field] === undefined || presence[field] === "never") return [`${name}.${field}`];
      const fits = typeof value === rows[field]?.type || (field === "revoked" && value === null);
      return fits ? [] : [`${name}.${field} is ${typeof value}`];
    }),
    ...Object.entries(presence)
      .filter(([field, when]) => when === "always" && !(field in event))
      .map(([field]) => `${name} without ${field}`),
  ];
}

/** Whether a cell of the column "Log lines" names a code. */
function names(lines: string, code: string): boolean {
  if (lines.startsWith("all")) return true;
  const patterns = [...lines.matchAll(/`([\w…]+)`/g)].map(([, name = ""]) =>
    name.replace("…", "\\w+"),
  );
  if (patterns.some((pattern) => new RegExp(`^${pattern}$`).test(code))) return true;
  return lines.includes("didn't catch") && code in ERRORS;
}

/** What a line contains that the tables don't. */
export function mistakesInLine({ details = {}, ...line }: LogEntry): string[] {
  const rows: Readonly<Record<string, { readonly type: string; readonly lines: string }>> =
    DETAIL_FIELDS;
  return [
    ...Object.keys(line).filter((field) => !(field in LINE_FIELDS)),
    ...Object.entries(details).flatMap(([field, value]) => {
      const row = rows[field];
      if (row === undefined || !names(row.lines, line.code)) return [`${line.code}.${field}`];
      return typeof value === row.type || value === "none" ? [] : [`${field} is ${typeof value}`];
    }),
  ];
}
