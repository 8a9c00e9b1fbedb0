/**
 * The most UTF-16 code units of an event's data and the line that is being read, together. Our
 * decision: the standard has no limit, and a line without an end would fill the memory.
 */
export const MAX_EVENT_LENGTH = 1_048_576;

/** What a stream tells the browser. */
export interface EventReceiver {
  /**
   * @param data undefined: an empty event, which only sets the id
   * @param id of the last event that had one
   */
  event(type: string, data: string | undefined, id: string): void;
  /** How many milliseconds the browser waits before it connects again. */
  retry(milliseconds: number): void;
}

/**
 * Returns a function that takes the next bytes of an event stream (HTML standard, section 9.2.6).
 * It returns false if an event is too long.
 *
 * @param id of the last event of the earlier connection, or ""
 */
export function createEventParser(
  id: string,
  receiver: EventReceiver,
): (bytes: Uint8Array) => boolean {
  // It removes a byte order mark, and waits for the rest of a character.
  const decoder = new TextDecoder();
  let line = "";
  let isAfterReturn = false;
  let type = "";
  let data = "";

  const readLine = () => {
    const [field = "", value = ""] = line.split(/: ?([^]*)/, 2);
    if (!line) {
      receiver.event(type || "message", data ? data.slice(0, -1) : undefined, id);
      type = data = "";
    } else if (field === "data") data += `${value}\n`;
    else if (field === "event") type = value;
    else if (field === "id" && !value.includes("\0")) id = value;
    else if (field === "retry" && /^[0-9]+$/.test(value)) receiver.retry(Number(value));
  };

  return (bytes) => {
    let text = decoder.decode(bytes, { stream: true });
    if (!text) return true;
    if (isAfterReturn && text.startsWith("\n")) text = text.slice(1);
    isAfterReturn = text.endsWith("\r");
    const isTooLong = () => line.length + data.length > MAX_EVENT_LENGTH;
    const [rest = "", ...parts] = text.split(/\r\n?|\n/);
    line += rest;
    for (const part of parts) {
      if (isTooLong()) return false;
      readLine();
      line = part;
    }
    return !isTooLong();
  };
}
