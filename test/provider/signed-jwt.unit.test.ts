import { describe, expect, it } from "vitest";
import type { AssertionAlgorithm, ClientKey } from "../../src/keys/client-keys.js";
import { signedJwt } from "../../src/provider/signed-jwt.js";
import { TestClock } from "../../src/testing/test-clock.js";

/** Signs with what `sign` returns, whatever it is. */
function signed(
  sign: (...given: Parameters<ClientKey["sign"]>) => unknown,
  { alg = "ES256", clock = new TestClock(), httpTimeout = 5 }: Partial<Options> = {},
): Promise<string> {
  const key = { sign } as unknown as ClientKey;
  const draft = { header: { alg }, claims: { sub: "ada" } };
  return signedJwt(key, draft, { clock, httpTimeout, signal: undefined });
}

interface Options {
  readonly alg: AssertionAlgorithm;
  readonly clock: TestClock;
  readonly httpTimeout: number;
}

const bytes = (length: number) => new Uint8Array(length).fill(7);
const base64url = (data: Uint8Array | string) => Buffer.from(data).toString("base64url");

describe("a signed JWT", () => {
  it.each<[AssertionAlgorithm, number]>([
    ["ES256", 64],
    ["EdDSA", 64],
    ["RS256", 1],
    ["PS256", 256],
  ])("with %s has header, claims and the signature of %i bytes", async (alg, length) => {
    const parts = [JSON.stringify({ alg }), '{"sub":"ada"}', bytes(length)].map(base64url);
    expect(await signed(() => bytes(length), { alg })).toBe(parts.join("."));
  });

  it("has its key sign header and claims, with the algorithm of the header", async () => {
    const given: unknown[] = [];
    const jwt = await signed((input, options) => {
      given.push(Buffer.from(input).toString(), options);
      return bytes(64);
    });
    expect(given).toEqual([jwt.slice(0, jwt.lastIndexOf(".")), { alg: "ES256" }]);
  });

  it.each<[AssertionAlgorithm, number]>([
    ["ES256", 63],
    ["ES256", 71],
    ["EdDSA", 65],
    ["RS256", 0],
    ["PS256", 0],
  ])("with %s is none if the signature has %i bytes", async (alg, length) => {
    const message = "`sign` returned a signature of a wrong length.";
    await expect(signed(() => bytes(length), { alg })).rejects.toThrow(message);
  });

  it.each([["text"], [undefined], [null], [{ byteLength: 64 }], [new SharedArrayBuffer(64)]])(
    "is none if `sign` returns %j, and the error says so",
    async (value) => {
      await expect(signed(() => value)).rejects.toThrow("`sign` returned no signature.");
    },
  );

  it("takes a part of a buffer as that part", async () => {
    const all = Uint8Array.from({ length: 80 }, (_, index) => index);
    for (const view of [all.subarray(8, 72), new DataView(all.buffer, 8, 64)])
      expect((await signed(() => view)).split(".")[2]).toBe(base64url(all.subarray(8, 72)));
    expect((await signed(() => all.buffer.slice(8, 72))).split(".")[2]).toBe(
      base64url(all.subarray(8, 72)),
    );
  });

  it.each([
    [5, 5],
    [60, 15],
  ])("is given up with an IDP_HTTP_TIMEOUT of %i after %i seconds", async (httpTimeout, limit) => {
    const clock = new TestClock();
    let end: unknown;
    const given = signed(() => new Promise(() => undefined), { clock, httpTimeout });
    given.catch((error: unknown) => (end = error));
    await clock.advanceAsync(limit * 1000 - 1);
    expect(end).toBeUndefined();
    await clock.advanceAsync(1);
    expect(end).toMatchObject({ reason: "timeout" });
  });
});
