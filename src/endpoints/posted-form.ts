import type { Clock } from "../clock.js";
import type { IdpRequest } from "../http/request.js";
import { isObject } from "../record/json.js";
import { within } from "../work/deadline.js";

/** Bytes of a form. */
const MAX_FORM_BYTES = 64 * 1024;
/** Milliseconds for which the body may take to arrive. */
const TIME_LIMIT_MS = 5_000;

/**
 * Returns the fields of a posted form (application/x-www-form-urlencoded), from what the framework
 * has parsed or from the unread body. Undefined: there is no complete form of this type within
 * {@link MAX_FORM_BYTES} and {@link TIME_LIMIT_MS}. Never rejects.
 */
export async function readForm(
  request: IdpRequest,
  clock: Clock,
): Promise<URLSearchParams | undefined> {
  try {
    const body = request.body?.();
    if (!isForm(request.header("content-type"))) return undefined;
    if (typeof body === "string")
      return body.length > MAX_FORM_BYTES ? undefined : new URLSearchParams(body);
    if (body instanceof Uint8Array)
      return body.length > MAX_FORM_BYTES ? undefined : new URLSearchParams(textOf([body]));
    if (isUnread(body)) {
      const late = () => new Error("The body took too long.");
      return await within((signal) => readBytes(body, signal), {
        clock,
        milliseconds: TIME_LIMIT_MS,
        late,
      });
    }
    return isObject(body) ? ofFields(body) : undefined;
  } catch {
    return undefined;
  }
}

function isForm(type: string | undefined): boolean {
  return type?.split(";")[0]?.trim().toLowerCase() === "application/x-www-form-urlencoded";
}

function isUnread(body: unknown): body is AsyncIterable<unknown> {
  return typeof body === "object" && body !== null && Symbol.asyncIterator in body;
}

/**
 * Keeps text only: parsers make objects and lists of names such as `a[b]`. A repeated field stays
 * repeated.
 */
function ofFields(fields: Readonly<Record<string, unknown>>): URLSearchParams {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    for (const text of [value].flat())
      if (typeof text === "string" && text.length <= MAX_FORM_BYTES) form.append(name, text);
  }
  return form;
}

/** Undefined: the body is too long, or the time has passed. The iterator is left then. */
async function readBytes(
  body: AsyncIterable<unknown>,
  signal: AbortSignal,
): Promise<URLSearchParams | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    const chunk = typeof part === "string" ? new TextEncoder().encode(part) : (part as Uint8Array);
    chunks.push(chunk);
    size += chunk.length;
    // Not `>`: the size of a part that is no bytes is not a number.
    if (signal.aborted || !(size <= MAX_FORM_BYTES)) return undefined;
  }
  return new URLSearchParams(textOf(chunks));
}

function textOf(chunks: readonly Uint8Array[]): string {
  return new TextDecoder().decode(Buffer.concat(chunks));
}
