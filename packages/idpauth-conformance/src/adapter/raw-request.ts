import { connect } from "node:net";

/** A response as received. */
export interface RawResponse {
  /** 0 when the connection ended without a response. */
  readonly status: number;
  /** Names as they were written. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Returns the first header of this name, in any letter case. */
  header(name: string): string | undefined;
  /** Chunked bodies are put together. */
  readonly body: string;
  /** Every byte received, as Latin-1. */
  readonly raw: string;
}

/** Sends exactly these bytes (text: as Latin-1) to a port of 127.0.0.1 and reads one response. */
export function rawRequest(port: number, bytes: string | Uint8Array): Promise<RawResponse> {
  const sent = typeof bytes === "string" ? Buffer.from(bytes, "latin1") : Buffer.from(bytes);
  const bodyless = sent.subarray(0, 5).toString("latin1") === "HEAD ";
  return new Promise((resolve, reject) => {
    let raw = "";
    let response: RawResponse | undefined;
    const socket = connect(port, "127.0.0.1", () => socket.write(sent));
    socket.setEncoding("latin1");
    socket.on("data", (chunk: string) => {
      raw += chunk;
      response = completeReply(raw, bodyless, false);
      if (response !== undefined) socket.destroy();
    });
    // A server that refuses the bytes may reset the connection after, or instead of, its response.
    socket.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNREFUSED") reject(error);
    });
    socket.on("close", () => {
      resolve(
        response ??
          completeReply(raw, bodyless, true) ?? {
            status: 0,
            headers: [],
            header: () => undefined,
            body: "",
            raw,
          },
      );
    });
  });
}

function completeReply(raw: string, bodyless: boolean, ended: boolean): RawResponse | undefined {
  const headEnd = raw.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const [statusLine = "", ...lines] = raw.slice(0, headEnd).split("\r\n");
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(statusLine)?.[1] ?? 0);
  const headers = lines.map(
    (line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()] as const,
  );
  const header = (name: string) =>
    headers.find(([its]) => its.toLowerCase() === name.toLowerCase())?.[1];
  const rest = raw.slice(headEnd + 4);
  const body = bodyless || status === 204 || status === 304 ? "" : bodyIn(rest, header, ended);
  return body === undefined
    ? undefined
    : { status, headers, header, body: Buffer.from(body, "latin1").toString("utf8"), raw };
}

/** Returns the complete body, or with `ended` the body so far. */
function bodyIn(
  rest: string,
  header: (name: string) => string | undefined,
  ended: boolean,
): string | undefined {
  if (header("transfer-encoding")?.toLowerCase() === "chunked") return unchunked(rest, ended);
  const length = header("content-length");
  if (length === undefined) return ended ? rest : undefined;
  return rest.length >= Number(length) || ended ? rest.slice(0, Number(length)) : undefined;
}

function unchunked(rest: string, ended: boolean): string | undefined {
  let body = "";
  let at = 0;
  for (;;) {
    const lineEnd = rest.indexOf("\r\n", at);
    const size = lineEnd < 0 ? Number.NaN : Number.parseInt(rest.slice(at, lineEnd), 16);
    if (size === 0) return body;
    if (Number.isNaN(size) || rest.length < lineEnd + 2 + size) return ended ? body : undefined;
    body += rest.slice(lineEnd + 2, lineEnd + 2 + size);
    at = lineEnd + 2 + size + 2;
  }
}
