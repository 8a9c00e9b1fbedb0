/** The most bytes of a request's body that the demo reads. */
const LIMIT = 4096;

/**
 * Returns the body of a request as text; undefined if it is longer than 4096 bytes.
 *
 * @param body a Node.js stream or a web stream; null: no body
 */
export async function textOf(body: AsyncIterable<Uint8Array> | null): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > LIMIT) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
