type HeaderValue = string | number;

/** The headers of a message of node:http. */
interface MessageHeaders {
  readonly rawHeaders?: readonly string[];
  readonly headers: Readonly<Record<string, HeaderValue | readonly HeaderValue[] | undefined>>;
}

/**
 * Returns the header lines of a message of node:http, names and values in turn. A message that no
 * server has made, as those of wrappers for functions and of tests, may have only `headers`.
 */
export function headerLines({ rawHeaders = [], headers }: MessageHeaders): readonly string[] {
  if (rawHeaders.length > 0) return rawHeaders;
  const lines: string[] = [];
  for (const [name, value] of Object.entries(headers))
    for (const each of [value].flat()) if (each !== undefined) lines.push(name, String(each));
  return lines;
}
