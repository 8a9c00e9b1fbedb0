import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createEventParser, MAX_EVENT_LENGTH } from "../../../src/client/streams/event-parser.js";

interface Read {
  /** Type, data and id of each event. */
  readonly events: (readonly [string, string | undefined, string])[];
  readonly retries: number[];
  /** Whether no event was too long. */
  isAccepted: boolean;
}

function read(chunks: readonly Uint8Array[], id = ""): Read {
  const result: Read = { events: [], retries: [], isAccepted: true };
  const parse = createEventParser(id, {
    event: (...event) => void result.events.push(event),
    retry: (milliseconds) => void result.retries.push(milliseconds),
  });
  for (const chunk of chunks) result.isAccepted &&= parse(chunk);
  return result;
}

const bytes = (text: string) => new TextEncoder().encode(text);
const eventsOf = (text: string, id?: string) => read([bytes(text)], id).events;

describe("an event stream, by the HTML standard", () => {
  it.each([
    ["data: one\n\n", [["message", "one", ""]]],
    ["data:one\ndata\ndata: three\n\n", [["message", "one\n\nthree", ""]]],
    ["data:  two spaces\n\n", [["message", " two spaces", ""]]],
    ["data\n\n", [["message", "", ""]]],
    ["data: a:b: c\n\n", [["message", "a:b: c", ""]]],
    [
      "event: tick\ndata: 1\n\ndata: 2\n\n",
      [
        ["tick", "1", ""],
        ["message", "2", ""],
      ],
    ],
    ["event: tick\nevent:\ndata: 1\n\n", [["message", "1", ""]]],
    [": a comment\n:\ndata: 1\n\n", [["message", "1", ""]]],
    ["Data: 1\ndata : 2\n data: 3\nother: 4\ndata: 5\n\n", [["message", "5", ""]]],
    [
      "data: 1\r\rdata: 2\r\n\r\ndata: 3\n\n",
      [
        ["message", "1", ""],
        ["message", "2", ""],
        ["message", "3", ""],
      ],
    ],
    ["\uFEFFdata: 1\n\n", [["message", "1", ""]]],
    ["\uFEFF\uFEFFdata: 1\n\n", [["message", undefined, ""]]],
    ["data: 1\n", []],
  ])("%j", (text, events) => {
    expect(eventsOf(text)).toEqual(events);
  });

  it("keeps the id until another one comes, also of an event without data", () => {
    expect(eventsOf("id: 1\ndata: a\n\ndata: b\n\nid: 2\n\nid\ndata: c\n\n", "0")).toEqual([
      ["message", "a", "1"],
      ["message", "b", "1"],
      ["message", undefined, "2"],
      ["message", "c", ""],
    ]);
    expect(eventsOf("data: a\n\n", "0")).toEqual([["message", "a", "0"]]);
  });

  it("ignores an id with a null character", () => {
    expect(eventsOf("id: 1\0\ndata: a\n\n", "0")).toEqual([["message", "a", "0"]]);
  });

  it("takes only digits as the time before the next connection", () => {
    const text = ["10", " 20", "30ms", "-40", "", "1e3", "٣", "50"].map(
      (value) => `retry:${value}\n`,
    );
    expect(read([bytes(text.join(""))]).retries).toEqual([10, 20, 50]);
  });

  it("replaces what isn't UTF-8", () => {
    const chunk = Uint8Array.from([...bytes("data: "), 0xff, ...bytes("!\n\n")]);
    expect(read([chunk]).events).toEqual([["message", "\uFFFD!", ""]]);
  });

  it("reads the same from any chunks: a character or a line's end may be in two of them", () => {
    const piece = fc.constantFrom(
      "data",
      "event",
      "id",
      ":",
      " ",
      "x",
      "é",
      "😀",
      "\r",
      "\n",
      "\r\n",
      "\n\n",
      "\uFEFF",
    );
    const text = fc.array(piece, { maxLength: 40 }).map((pieces) => bytes(pieces.join("")));
    fc.assert(
      fc.property(text, fc.array(fc.nat({ max: 60 })), (whole, cuts) => {
        const places = [
          0,
          ...cuts.map((cut) => Math.min(cut, whole.length)).toSorted((a, b) => a - b),
        ];
        const chunks = places.map((place, index) => whole.slice(place, places[index + 1]));
        expect(read(chunks)).toEqual(read([whole]));
      }),
    );
  });
});

describe("the longest event", () => {
  const half = MAX_EVENT_LENGTH / 2;
  it.each([
    ["in one line", [`data:${"x".repeat(MAX_EVENT_LENGTH - 5)}\n\n`], true],
    ["in one line that is too long", [`data:${"x".repeat(MAX_EVENT_LENGTH - 4)}\n\n`], false],
    ["in lines", [`data:${"x".repeat(half)}\n`, `data:${"x".repeat(half - 10)}`], true],
    [
      "in lines that are too long",
      [`data:${"x".repeat(half)}\n`, `data:${"x".repeat(half)}`],
      false,
    ],
    ["a line without an end", Array<string>(5).fill("x".repeat(half / 2)), false],
    ["lines without data", Array<string>(5).fill("data\n".repeat(half / 2)), false],
    ["short events", Array<string>(5).fill(`data:${"x".repeat(half)}\n\n`), true],
  ])("%s", (_name, chunks, isAccepted) => {
    expect(read(chunks.map(bytes)).isAccepted).toBe(isAccepted);
  });
});
