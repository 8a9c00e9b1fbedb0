import { expect, it } from "vitest";
import { readForm } from "../../src/endpoints/posted-form.js";
import { TestClock } from "../../src/testing/test-clock.js";

/** Reads a form from a body that comes in parts. @returns the form, and how many parts were read */
async function readParts(
  part: unknown,
  count: number,
): Promise<[form: string | undefined, read: number]> {
  let read = 0;
  async function* body() {
    while (read < count) {
      read += 1;
      yield part;
    }
  }
  const request = {
    method: "POST",
    target: "/",
    scheme: "http",
    host: "app.example",
    body,
    header: () => FORM,
  } as const;
  return [(await readForm(request, new TestClock()))?.toString(), read];
}

const FORM = "application/x-www-form-urlencoded";

it("reads a body of bytes or text to its end, up to 64 KB", async () => {
  expect(await readParts(Buffer.from("a=1&"), 2)).toEqual(["a=1&a=1", 2]);
  expect(await readParts("a=1&", 2)).toEqual(["a=1&a=1", 2]);
  expect((await readParts("a".repeat(1024), 64))[1]).toBe(64);
  expect(await readParts("a".repeat(1024), 1000)).toEqual([undefined, 65]);
});

it.each([
  ["an ArrayBuffer", new ArrayBuffer(1024)],
  ["an object", {}],
  ["null", null],
])("reads no further than a part that is neither bytes nor text: %s", async (_name, part) => {
  expect(await readParts(part, 1000)).toEqual([undefined, 1]);
});
