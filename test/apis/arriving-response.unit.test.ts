import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { ArrivingResponse } from "../../src/apis/arriving-response.js";
import { IdleTimer } from "../../src/apis/idle-timer.js";
import { TestClock } from "../../src/testing/test-clock.js";

const KB = 1024;

function arriving({ isEventStream = false, lines = ["A", "b"] } = {}) {
  const clock = new TestClock();
  const log: string[] = [];
  const controller = {
    paused: false,
    aborted: false,
    reason: null,
    pause() {
      log.push("pause");
      this.paused = true;
    },
    resume() {
      log.push("resume");
      this.paused = false;
    },
    abort: ({ message }: Error) => void log.push(`abort: ${message}`),
  };
  const timer = new IdleTimer(clock, 10, () => log.push("expired"));
  const head = { status: 200, lines, isEventStream };
  return { response: new ArrivingResponse(head, controller, timer), log, clock };
}

const ABORTED = "abort: Nobody reads the response.";
const bytes = (size: number) => Buffer.alloc(size, "x");

describe("a response that has arrived whole", () => {
  it.each([
    [[], ""],
    [["one"], "one"],
    [["one", "two"], "onetwo"],
  ])("of the pieces %j is %j", (pieces, whole) => {
    const { response } = arriving();
    for (const piece of pieces) response.add(Buffer.from(piece));
    expect(response.whole()).toBeUndefined();
    response.complete();
    expect(Buffer.from(response.whole()!).toString()).toBe(whole);
    expect([response.status, response.lines]).toEqual([200, ["A", "b"]]);
  });

  it("isn't whole if it was broken off, or a stream has begun", () => {
    const broken = arriving().response;
    broken.complete();
    broken.fail(new Error("the session ended"));
    expect(broken.whole()).toBeUndefined();
    const begun = arriving().response;
    begun.body.resume();
    begun.complete();
    expect(begun.whole()).toBeUndefined();
  });
});

describe("the stream of a response", () => {
  it("has what arrived before it was asked for, and what comes later", async () => {
    const { response, log } = arriving();
    response.add(Buffer.from("one "));
    const all = text(response.body);
    expect(response.body).toBe(response.body);
    response.add(Buffer.from("two"));
    response.complete();
    expect(await all).toBe("one two");
    expect(log).toEqual([]);
  });

  it("has all if it is asked for at the end", async () => {
    const { response } = arriving();
    response.add(Buffer.from("one"));
    response.complete();
    expect(await text(response.body)).toBe("one");
  });

  it("holds the API back until it is read, and no time counts meanwhile", async () => {
    const { response, log, clock } = arriving();
    const { body } = response;
    response.add(bytes(body.readableHighWaterMark - 1));
    expect(log).toEqual([]);
    response.add(bytes(1));
    expect(log).toEqual(["pause"]);
    clock.advance(600_000);
    expect(log).toEqual(["pause"]);
    body.resume();
    await new Promise((resolve) => setImmediate(resolve));
    expect(log).toEqual(["pause", "resume"]);
    clock.advance(10_000);
    expect(log).toEqual(["pause", "resume", "expired"]);
  });

  it("keeps 64 KB while nobody asks for it", async () => {
    const { response, log } = arriving();
    response.add(bytes(64 * KB));
    expect(log).toEqual([]);
    response.add(bytes(1));
    expect(log).toEqual(["pause"]);
    const all = text(response.body);
    await new Promise((resolve) => setImmediate(resolve));
    expect(log).toEqual(["pause", "resume"]);
    response.complete();
    expect(await all).toHaveLength(64 * KB + 1);
  });

  it.each([
    ["3", ["pause"]],
    [String(128 * KB), []],
    [String(128 * KB + 1), ["pause"]],
  ])("with a Content-Length of %s doesn't hold its last byte back", (length, expected) => {
    const { response, log } = arriving({ lines: ["content-length", length] });
    response.add(bytes(128 * KB));
    expect(log).toEqual(expected);
  });

  it("fails with the API's connection, before it is asked for and after", async () => {
    const reason = new Error("reset");
    const before = arriving().response;
    before.add(Buffer.from("part"));
    before.fail(reason);
    before.fail(new Error("a later one"));
    await expect(text(before.body)).rejects.toBe(reason);
    const after = arriving().response;
    const all = text(after.body);
    after.fail(reason);
    await expect(all).rejects.toBe(reason);
    // Without anybody who listens, it ends no process.
    const unheard = arriving().response;
    const { body } = unheard;
    unheard.fail(reason);
    await new Promise((resolve) => setImmediate(resolve));
    expect(body.errored).toBe(reason);
  });

  it("aborts the request if it is closed before its end, and only then", async () => {
    const early = arriving();
    early.response.body.destroy();
    await new Promise((resolve) => setImmediate(resolve));
    expect(early.log).toEqual([ABORTED]);
    const late = arriving();
    late.response.complete();
    late.response.body.destroy();
    await new Promise((resolve) => setImmediate(resolve));
    expect(late.log).toEqual([]);
  });

  it("of an event stream ends in order, and its request is aborted", async () => {
    const { response, log } = arriving({ isEventStream: true });
    response.add(Buffer.from("data: 1\n\n"));
    const all = text(response.body);
    response.end();
    response.fail(new Error("aborted"));
    expect(await all).toBe("data: 1\n\n");
    expect(log).toEqual([ABORTED]);
  });
});

describe("a response that nobody gets", () => {
  it("is read to its end", () => {
    const { response, log } = arriving();
    response.add(bytes(60 * KB));
    response.discard();
    response.add(bytes(4 * KB));
    response.complete();
    expect(log).toEqual([]);
  });

  it("goes on if it was held back", () => {
    const { response, log } = arriving();
    response.add(bytes(64 * KB + 1));
    response.discard();
    expect(log).toEqual(["pause", "resume"]);
  });

  it("is aborted if it is longer than 64 KB", () => {
    const { response, log } = arriving();
    response.discard();
    response.add(bytes(64 * KB));
    expect(log).toEqual([]);
    response.add(bytes(1));
    expect(log).toEqual([ABORTED]);
  });

  it("is aborted at once if its stream has begun", () => {
    const { response, log } = arriving();
    const { body } = response;
    response.discard();
    expect([body.destroyed, log]).toEqual([true, [ABORTED]]);
  });

  it("is aborted at once if it is an event stream", () => {
    const { response, log } = arriving({ isEventStream: true });
    response.discard();
    expect(log).toEqual([ABORTED]);
  });
});
