import fc from "fast-check";

/**
 * Stands for something that nests deeper than a call stack; put in as text, since nobody could
 * serialise it.
 */
export const DEEP = "@deep@";
export const DEPTH = 20_000;

/** Names that mean something to the language. */
const NAMES = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "toJSON",
  "then",
  "length",
  "",
  "0",
  "\u0000",
];

/** Values that are nearly right, or of another kind. */
export const HOSTILE_VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  -1e308,
  2 ** 53,
  8_640_000_000_001,
  4_102_444_800,
  "",
  " ",
  "0",
  "true",
  "null",
  "1e999",
  "\ud800",
  "\u0000",
  "a\r\nb: c",
  "\u202e\u200b",
  '"><script>alert(1)</script>',
  "javascript:alert(1)",
  "//evil.example",
  "https://evil.example/",
  "https://user:secret@evil.example/",
  "http://[",
  "../../etc/passwd",
  "x".repeat(5000),
  [],
  {},
  [[]],
  [null],
  ["a", "a"],
  { a: { b: [] } },
  { then: null, toJSON: 1 },
  DEEP,
];

export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...HOSTILE_VALUES) },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
  { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
);

const KINDS = [
  "remove",
  "replace",
  "wrap",
  "unwrap",
  "stringify",
  "swap",
  "rename",
  "add",
  "repeat",
  "edit",
] as const;

/** One change to a JSON document; the place is taken modulo the number of places there are. */
export interface JsonEdit {
  readonly kind: (typeof KINDS)[number];
  readonly at: number;
  readonly other: number;
  readonly value: unknown;
  readonly name: string;
  readonly edit: TextEdit;
}

const TEXT_KINDS = ["insert", "delete", "replace", "double", "cut", "upper", "swap"] as const;

export interface TextEdit {
  readonly kind: (typeof TEXT_KINDS)[number];
  readonly at: number;
  readonly length: number;
  readonly text: string;
}

/** Pieces that mean something to the one or the other parser. */
const PIECES = ["{", "}", "[", "]", ",", ":", '"', "'", "\\", "\\u0000", "\\ud800", "\ufeff", "\u0000", "\n", "\r\n", " ", "\t", "=", ";", "&", "%", "%00", "%zz", "+", "#", "?", "/", "@", ".", "..", "-", "_", "~", "e", "0", "1e999", "null", "__proto__", "é", "\u{1f600}", "\ud800"]; // prettier-ignore

/** @param pieces what else is put in */
export const textEdit = (pieces: readonly string[] = []): fc.Arbitrary<TextEdit> =>
  fc.record({
    kind: fc.constantFrom(...TEXT_KINDS),
    at: fc.nat(),
    length: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 5, max: 60 })),
    text: fc.oneof(
      fc.constantFrom(...PIECES, ...pieces),
      fc.string({ unit: "binary", maxLength: 4 }),
    ),
  });

export function edited(text: string, { kind, at, length, text: piece }: TextEdit): string {
  const from = at % (text.length + 1);
  const [before, middle, after] = [
    text.slice(0, from),
    text.slice(from, from + length),
    text.slice(from + length),
  ];
  switch (kind) {
    case "insert":
      return before + piece + middle + after;
    case "delete":
      return before + after;
    case "replace":
      return before + piece + after;
    case "double":
      return before + middle + middle + after;
    case "cut":
      return before;
    case "upper":
      return (
        before +
        (middle === middle.toUpperCase() ? middle.toLowerCase() : middle.toUpperCase()) +
        after
      );
    case "swap":
      return after + before + middle;
  }
}

/** A text with one to four changes. */
export const mutatedText = (text: string, pieces?: readonly string[]): fc.Arbitrary<string> =>
  fc
    .array(textEdit(pieces), { minLength: 1, maxLength: 4 })
    .map((edits) => edits.reduce(edited, text));

export const jsonEdit: fc.Arbitrary<JsonEdit> = fc.record({
  kind: fc.constantFrom(...KINDS),
  at: fc.nat(),
  other: fc.nat(),
  value: hostileValue,
  name: fc.oneof(fc.constantFrom(...NAMES), fc.string({ maxLength: 4 })),
  edit: textEdit(),
});

interface Slot {
  readonly holder: Record<string, unknown> | unknown[];
  readonly key: string | number;
}

function slotsOf(value: unknown, slots: Slot[] = []): Slot[] {
  if (typeof value !== "object" || value === null) return slots;
  const holder = value as Record<string, unknown>;
  for (const key of Object.keys(holder)) {
    slots.push({ holder, key });
    slotsOf(holder[key], slots);
  }
  return slots;
}

const read = ({ holder, key }: Slot) => (holder as Record<string, unknown>)[key];

/** An own property also under the name `__proto__`, as JSON.parse makes it. */
function write({ holder, key }: Slot, value: unknown): void {
  Object.defineProperty(holder, key, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}

function remove({ holder, key }: Slot): void {
  if (Array.isArray(holder)) holder.splice(Number(key), 1);
  else Reflect.deleteProperty(holder, key);
}

/** The document with the changes; it is not touched itself. */
export function editedJson(document: unknown, edits: readonly JsonEdit[]): unknown {
  const root = { root: structuredClone(document) };
  for (const each of edits) apply(root, each);
  return root.root;
}

function apply(root: object, { kind, at, other, value, name, edit }: JsonEdit): void {
  const slots = slotsOf(root);
  // The whole document is one place among many.
  const slot = slots[at % slots.length] as Slot;
  const here = read(slot);
  switch (kind) {
    case "remove":
      if (slot.holder !== root) remove(slot);
      return;
    case "replace":
      write(slot, structuredClone(value));
      return;
    case "wrap":
      write(slot, other % 2 === 0 ? [here] : { [name]: here });
      return;
    case "unwrap":
      if (typeof here === "object" && here !== null) write(slot, Object.values(here)[0]);
      return;
    case "stringify":
      write(slot, typeof here === "string" ? Number(here) : JSON.stringify(here));
      return;
    case "swap": {
      const there = slots[other % slots.length] as Slot;
      write(slot, structuredClone(read(there)));
      return;
    }
    case "rename":
      if (slot.holder === root || Array.isArray(slot.holder)) return;
      remove(slot);
      write({ holder: slot.holder, key: name }, here);
      return;
    case "add":
      if (typeof here === "object" && here !== null && !Array.isArray(here))
        write({ holder: here as Record<string, unknown>, key: name }, structuredClone(value));
      return;
    case "repeat":
      if (Array.isArray(here))
        write(
          slot,
          Array.from({ length: 1 + (other % 200) }, () => structuredClone(here[0])),
        );
      return;
    case "edit":
      if (typeof here === "string") write(slot, edited(here, edit));
      return;
  }
}

/** Serialised, with what nests too deep put in as text. */
export function jsonText(document: unknown): string {
  return ((JSON.stringify(document) as string | undefined) ?? "").replaceAll(
    JSON.stringify(DEEP),
    () => "[".repeat(DEPTH) + "]".repeat(DEPTH),
  );
}

/** Changes to a JSON text: mostly in what it says, now and then in how it is written. */
export interface JsonMutation {
  readonly edits: readonly JsonEdit[];
  readonly text: readonly TextEdit[];
}

export const jsonMutation: fc.Arbitrary<JsonMutation> = fc.record({
  edits: fc.array(jsonEdit, { maxLength: 4 }),
  text: fc.oneof(
    { weight: 4, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(textEdit(), { minLength: 1, maxLength: 2 }) },
  ),
});

export function mutatedJson(document: unknown, { edits, text }: JsonMutation): string {
  return text.reduce(edited, jsonText(editedJson(document, edits)));
}

/** Changes to bytes: flipped, cut, lengthened, moved. */
export const byteEdit = fc.record({
  kind: fc.constantFrom("flip", "set", "cut", "append", "swap" as const),
  at: fc.nat(),
  byte: fc.nat(255),
});

export function editedBytes(
  bytes: Uint8Array,
  edits: readonly { kind: string; at: number; byte: number }[],
): Uint8Array {
  return edits.reduce<Buffer>((changed, { kind, at, byte }) => {
    const place = at % Math.max(1, changed.length);
    switch (kind) {
      case "flip":
        changed.writeUInt8(
          (changed[place] ?? 0) ^ (1 << (byte % 8)),
          changed.length === 0 ? Number.NaN : place,
        );
        return changed;
      case "set":
        changed.writeUInt8(byte, place);
        return changed;
      case "cut":
        return changed.subarray(0, Math.max(1, place));
      case "append":
        return Buffer.concat([changed, Buffer.of(byte)]);
      default:
        return Buffer.concat([changed.subarray(place), changed.subarray(0, place)]);
    }
  }, Buffer.from(bytes));
}
