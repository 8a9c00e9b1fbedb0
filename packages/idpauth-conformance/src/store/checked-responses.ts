import assert from "node:assert/strict";
import type { SessionStore } from "idpauth";

/**
 * Returns the store with every response checked for its type and its time. A store that hangs, or
 * returns 1 for true, fails at that call.
 *
 * @param limit milliseconds for one call
 */
export function withResponsesChecked(store: SessionStore, limit: number): SessionStore {
  const getMany = store.getMany?.bind(store);
  const announceEnd = store.announceEnd?.bind(store);
  const { lossyIndex } = store;
  const watchEnds = store.watchEnds?.bind(store);
  return {
    name: store.name,
    ...(store.inProcess !== undefined && { inProcess: store.inProcess }),
    ...(store.problems !== undefined && { problems: store.problems }),
    get: (key) => asked({ method: "get", limit }, () => store.get(key), isStoredOrUndefined),
    insert: (key, entry) =>
      asked({ method: "insert", limit }, () => store.insert(key, entry), isBoolean),
    replace: (key, entry, version) =>
      asked({ method: "replace", limit }, () => store.replace(key, entry, version), isBoolean),
    touch: (key, lastActive, expiresAt) =>
      asked({ method: "touch", limit }, () => store.touch(key, lastActive, expiresAt), isBoolean),
    delete: (key) =>
      asked({ method: "delete", limit }, () => store.delete(key), isStoredOrUndefined),
    listBySubject: (subject, cursor) =>
      asked({ method: "listBySubject", limit }, () => store.listBySubject(subject, cursor), isPage),
    listBySid: (sid, cursor) =>
      asked({ method: "listBySid", limit }, () => store.listBySid(sid, cursor), isPage),
    ...(watchEnds !== undefined && { watchEnds }),
    ...(announceEnd !== undefined && {
      announceEnd: (key: string, reason: string) =>
        asked({ method: "announceEnd", limit }, () => announceEnd(key, reason), isAnything),
    }),
    ...(lossyIndex !== undefined && {
      lossyIndex: {
        isWhole: () => asked({ method: "isWhole", limit }, () => lossyIndex.isWhole(), isBoolean),
        scan: (cursor?: string) =>
          asked({ method: "scan", limit }, () => lossyIndex.scan(cursor), isPage),
      },
    }),
    ...(getMany !== undefined && {
      getMany: (keys: readonly string[]) =>
        asked({ method: "getMany", limit }, () => getMany(keys), isMapOfEntries),
    }),
  };
}

async function asked<Answer>(
  { method, limit }: { readonly method: string; readonly limit: number },
  question: () => Promise<Answer>,
  check: (method: string, answer: unknown) => void,
): Promise<Answer> {
  const answer = await settledWithin(method, limit, question);
  check(method, answer);
  return answer;
}

function settledWithin<Answer>(
  method: string,
  limit: number,
  question: () => Promise<Answer>,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(
        new assert.AssertionError({ message: `${method} has not settled within ${limit} ms` }),
      );
    }, limit);
    // A store may throw instead of rejecting.
    new Promise<Answer>((settle) => {
      settle(question());
    })
      .finally(() => {
        clearTimeout(timer);
      })
      .then(resolve, reject);
  });
}

function isAnything(): void {}

function isBoolean(method: string, answer: unknown): void {
  assert.ok(
    typeof answer === "boolean",
    `${method} must return true or false, got ${shown(answer)}`,
  );
}

function isPage(method: string, answer: unknown): void {
  const isObject = typeof answer === "object" && answer !== null && !Array.isArray(answer);
  assert.ok(isObject, `${method} must return an object with entries, got ${shown(answer)}`);
  const { entries, next } = answer as Record<string, unknown>;
  isMapOfEntries(method, entries);
  assert.ok(
    next === undefined || typeof next === "string",
    `${method} must return a string or undefined as next, got ${shown(next)}`,
  );
}

function isMapOfEntries(method: string, answer: unknown): void {
  assert.ok(answer instanceof Map, `${method} must return a Map of entries, got ${shown(answer)}`);
  for (const stored of answer.values()) {
    assert.ok(stored !== undefined, `${method} must leave out a missing entry`);
    isStoredOrUndefined(method, stored);
  }
}

function isStoredOrUndefined(method: string, answer: unknown): void {
  if (answer === undefined) return;
  assert.ok(
    typeof answer === "object" && answer !== null,
    `${method} must return an entry or undefined, got ${shown(answer)}`,
  );
  const stored = answer as Record<string, unknown>;
  const field = (name: string, type: "number" | "string", isOptional: boolean): void => {
    const value = stored[name];
    if (isOptional && value === undefined) return;
    assert.equal(
      typeof value,
      type,
      `${method} must return an entry whose ${name} is a ${type}, got ${shown(value)}`,
    );
  };
  field("version", "string", false);
  field("expiresAt", "number", false);
  field("lastActive", "number", true);
  field("subject", "string", true);
  field("sid", "string", true);
  const { summary } = stored;
  assert.ok(
    summary === undefined || summary instanceof Uint8Array,
    `${method} must return an entry whose summary is a Uint8Array, got ${shown(summary)}`,
  );
}

/** Returns only the type, because the value may be secret. */
function shown(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? "an array" : `a ${typeof value}`;
}
