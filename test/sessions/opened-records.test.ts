import { afterEach, describe, expect, it } from "vitest";
import { EMPTY_RECORD } from "../../src/core/record.js";
import { OpenedRecords } from "../../src/sessions/opened-records.js";
import { startApplication, type Application } from "../support/application.js";
import { SealingStore } from "../support/sealing-store.js";
import { TestClock } from "../support/test-clock.js";

const bytes = (text: string) => new TextEncoder().encode(text);

describe("opened records", () => {
  it("are known by their bytes, not by the array that holds them", () => {
    const opened = new OpenedRecords();
    const received = Buffer.from("before sealed after");
    opened.set("key", received.subarray(7, 13), EMPTY_RECORD);
    received.fill(0);
    expect(opened.get("key", bytes("sealed"))).toBe(EMPTY_RECORD);
  });

  it.each([
    ["other bytes", "key", "sealeD"],
    ["fewer bytes", "key", "seale"],
    ["more bytes", "key", "sealed."],
    ["another key", "other", "sealed"],
  ])("%s are unknown", (_name, key, sealed) => {
    const opened = new OpenedRecords();
    opened.set("key", bytes("sealed"), EMPTY_RECORD);
    expect(opened.get(key, bytes(sealed))).toBeUndefined();
  });

  it("are 2,000 at the most: the oldest go", () => {
    const opened = new OpenedRecords();
    for (let number = 0; number < 2_010; number += 1) opened.set(String(number), bytes("sealed"), EMPTY_RECORD);
    const known = Array.from({ length: 2_010 }, (_, number) => opened.get(String(number), bytes("sealed")) !== undefined);
    expect(known.indexOf(true)).toBe(10);
    expect(known.filter(Boolean)).toHaveLength(2_000);
  });
});

describe("what an application does with what it was given", () => {
  let app: Application;
  afterEach(() => app.stop());

  it("changes nothing for the next request", async () => {
    const clock = new TestClock();
    app = await startApplication({ store: new SealingStore(clock), clock });
    const visitor = app.visitor();
    await visitor.signIn();
    await visitor.isSignedIn();
    const credentials = await app.auth.getCredentials(visitor.request("/"));
    const session = (await app.auth.getSession(visitor.request("/"))) as { id_info: { email: string } };
    expect(() => Object.assign(credentials ?? {}, { token: "other" })).toThrow(TypeError);
    expect(() => (credentials?.scopes as string[]).push("admin")).toThrow(TypeError);
    expect(() => (session.id_info.email = "other@example.com")).toThrow(TypeError);
    expect((await app.auth.getCredentials(visitor.request("/")))?.token).toBe(credentials?.token);
  });
});
