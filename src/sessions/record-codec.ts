import type { Entry, SessionStore } from "../ports/session-store.js";
import { deepFreeze, isTooDeep, MAX_RECORD_DEPTH } from "../record/json.js";
import { withoutInherited } from "../record/own-properties.js";
import { parseRecord } from "../record/parse-record.js";
import type { SessionRecord } from "../record/record.js";
import { storedForm, type KeyNames } from "../record/stored-form.js";
import type { Sealer } from "./seal.js";

/** The cookie value that leads to a session, and the key that the session is stored under. */
export interface Handle {
  readonly value: string;
  readonly key: string;
}

/** Translates between a record and the data that a store keeps. */
export interface RecordCodec {
  encode(record: SessionRecord, handle: Handle): Entry["data"];
  /** Undefined: the data is not a record that this process can read. */
  decode(data: Entry["data"], handle: Handle): SessionRecord | undefined;
}

/** The codec for a store: plain records for a store in this process, encrypted bytes for any other. */
export function recordCodec(store: SessionStore, sealer: Sealer, names: KeyNames): RecordCodec {
  return store.inProcess === true ? plainRecords : encryptedRecords(sealer, names);
}

const plainRecords: RecordCodec = {
  encode: deepFreeze,
  decode(data) {
    if (data instanceof Uint8Array) return undefined;
    // The stored object itself, so that a read copies nothing. A custom store may return a copy with an ordinary prototype.
    return Object.getPrototypeOf(data) === null ? data : withoutInherited(data);
  },
};

function encryptedRecords(sealer: Sealer, names: KeyNames): RecordCodec {
  return {
    encode: (record, { value, key }) => sealer.seal(JSON.stringify(storedForm(record, names)), value, key),
    decode(data, { value, key }) {
      const text = data instanceof Uint8Array ? sealer.open(data, value, key) : undefined;
      if (text === undefined) return undefined;
      try {
        const json: unknown = JSON.parse(text);
        return isTooDeep(json, MAX_RECORD_DEPTH) ? undefined : parseRecord(json, names);
      } catch {
        return undefined;
      }
    },
  };
}
