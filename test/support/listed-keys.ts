import type { EntryPage, SessionStore, Stored } from "../../src/ports/session-store.js";

/** All keys of a list, from its first page to its last. */
async function keysOf(list: (cursor: string | undefined) => Promise<EntryPage>): Promise<string[]> {
  const found = new Map<string, Stored>();
  let page = await list(undefined);
  for (;;) {
    for (const [key, stored] of page.entries) found.set(key, stored);
    if (page.next === undefined) return [...found.keys()];
    page = await list(page.next);
  }
}

export function keysBySubject(
  store: Pick<SessionStore, "listBySubject">,
  subject: string,
): Promise<string[]> {
  return keysOf((cursor) => store.listBySubject(subject, cursor));
}

export function keysBySid(store: Pick<SessionStore, "listBySid">, sid: string): Promise<string[]> {
  return keysOf((cursor) => store.listBySid(sid, cursor));
}
