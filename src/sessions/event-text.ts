import type { EventStream } from "./event-stream.js";

/** The event by which idpauth ends a stream. */
const ENDED = "ended";

/**
 * Returns the text of an event (WHATWG HTML section 9.2.6).
 *
 * @param data a string as it is, anything else as JSON
 * @throws TypeError a value that an event can't have
 */
export function eventText(
  data: unknown,
  { event, id, retry }: NonNullable<Parameters<EventStream["send"]>[1]> = {},
): string {
  if (event === ENDED)
    throw new TypeError('The event "ended" says that the session has ended. Choose another name.');
  const fields: [string, string][] = [];
  if (event !== undefined) fields.push(["event", oneLine("event", event)]);
  if (id !== undefined) fields.push(["id", oneLine("id", id)]);
  if (retry !== undefined) {
    if (!Number.isSafeInteger(retry) || retry < 0)
      throw new TypeError("`retry` takes a whole number of milliseconds.");
    fields.push(["retry", String(retry)]);
  }
  for (const line of dataText(data).split(/\r\n|\r|\n/)) fields.push(["data", line]);
  return `${fields.map(([name, value]) => `${name}: ${value}\n`).join("")}\n`;
}

/** The event that says why the session ended. */
export function endedText(reason: string): string {
  return `event: ${ENDED}\ndata: ${JSON.stringify({ reason })}\n\n`;
}

function oneLine(name: string, value: string): string {
  // A browser ignores an id with NUL. A line break would begin another field.
  if (typeof value !== "string" || /[\r\n\0]/.test(value))
    throw new TypeError(`\`${name}\` takes a string without line breaks and NUL.`);
  return value;
}

function dataText(data: unknown): string {
  if (typeof data === "string") return data;
  const text = JSON.stringify(data) as string | undefined;
  if (text === undefined) throw new TypeError("`data` has no form as JSON.");
  return text;
}
