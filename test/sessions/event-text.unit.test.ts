import { expect, it } from "vitest";
import { eventText } from "../../src/sessions/event-text.js";

it("a string is sent as it is, anything else as JSON", () => {
  expect(eventText("one")).toBe("data: one\n\n");
  expect(eventText({ a: "line\nbreak" })).toBe('data: {"a":"line\\nbreak"}\n\n');
  expect(eventText(null)).toBe("data: null\n\n");
});

it("each line of a string is a line of the data, whatever ends it", () => {
  expect(eventText("a\nb\r\nc\rd\n\n")).toBe(
    "data: a\ndata: b\ndata: c\ndata: d\ndata: \ndata: \n\n",
  );
});

it("the fields come before the data", () => {
  expect(eventText("x", { event: "order", id: "", retry: 0 })).toBe(
    "event: order\nid: \nretry: 0\ndata: x\n\n",
  );
});

it.each([
  [{ event: "a\nid: 1" }],
  [{ event: "ended" }],
  [{ id: "1\r" }],
  [{ id: "\0" }],
  [{ id: 7 as never }],
  [{ retry: 1.5 }],
  [{ retry: -1 }],
  [{ retry: "1\ndata: x" as never }],
])("%o is refused", (options) => {
  expect(() => eventText("x", options)).toThrow(TypeError);
});

it("data without a form as JSON is refused", () => {
  expect(() => eventText(undefined)).toThrow(TypeError);
});
