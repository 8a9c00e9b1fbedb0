/** What an endpoint of the provider answers, before any fault touches it. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export function jsonAnswer(value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Answer {
  const body = JSON.stringify(value);
  return { status, headers: { "Content-Type": "application/json", "Cache-Control": "no-store", Pragma: "no-cache", ...headers }, body };
}

/** An OAuth error answer (RFC 6749 section 5.2). */
export function errorAnswer(error: string, description: string, status = 400, headers: Readonly<Record<string, string>> = {}): Answer {
  return jsonAnswer({ error, error_description: description }, status, headers);
}

export function redirectAnswer(location: string): Answer {
  return { status: 302, headers: { Location: location, "Cache-Control": "no-store" }, body: "" };
}
