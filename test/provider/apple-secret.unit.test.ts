import { decodeJwt, decodeProtectedHeader } from "jose";
import { describe, expect, it } from "vitest";
import type { ProviderSettings } from "../../src/config/setting-table.js";
import type { ClientKey } from "../../src/keys/client-keys.js";
import { createAppleSecrets } from "../../src/provider/apple-secret.js";
import { TestClock } from "../../src/testing/test-clock.js";

const HOUR = 3_600_000;

interface Signature {
  readonly alg: string;
  readonly succeed: () => void;
  readonly fail: (error: Error) => void;
}

/** Secrets of a key whose signatures the test ends, or that it ends at once. */
function rig({ atOnce = true, privateKey }: { atOnce?: boolean; privateKey?: null } = {}) {
  const clock = new TestClock();
  const signatures: Signature[] = [];
  const key = {
    sign: (_input: Uint8Array, { alg }: { readonly alg: string }) =>
      new Promise((resolve, reject) => {
        const succeed = () => {
          resolve(new Uint8Array(64));
        };
        signatures.push({ alg, succeed, fail: reject });
        if (atOnce) succeed();
      }),
  } as unknown as ClientKey;
  const settings = {
    appleTeamId: "TEAM123456",
    appleKeyId: "KEY1234567",
    clientId: "com.example.web",
    issuer: "https://appleid.apple.com",
    httpTimeout: 5,
    privateKey: privateKey === null ? null : [key],
  } as unknown as ProviderSettings;
  return { clock, signatures, secret: createAppleSecrets(settings, clock) };
}

describe("the client secret for Apple", () => {
  it("names team, key and client, and is valid for two hours", async () => {
    const { clock, signatures, secret } = rig();
    const jwt = await secret(undefined);
    const now = Math.floor(clock.now() / 1000);
    expect(decodeProtectedHeader(jwt)).toEqual({ alg: "ES256", kid: "KEY1234567" });
    expect(decodeJwt(jwt)).toEqual({
      iss: "TEAM123456",
      iat: now,
      exp: now + 7_200,
      aud: "https://appleid.apple.com",
      sub: "com.example.web",
    });
    expect(signatures.map(({ alg }) => alg)).toEqual(["ES256"]);
  });

  it("is used for an hour, unless the clock was set back", async () => {
    const { clock, signatures, secret } = rig();
    const first = await secret(undefined);
    clock.advance(HOUR - 1_000);
    expect(await secret(undefined)).toBe(first);
    clock.advance(1_000);
    expect(await secret(undefined)).not.toBe(first);
    clock.setNow(clock.now() - 1_000);
    await secret(undefined);
    expect(signatures).toHaveLength(3);
  });

  it("is signed once for all that wait, also if one of them gives up", async () => {
    const { signatures, secret } = rig({ atOnce: false });
    const gone = new AbortController();
    const given = [gone.signal, undefined, undefined].map((signal) => secret(signal));
    gone.abort();
    await expect(given[0]).rejects.toMatchObject({ reason: "client_assertion" });
    signatures[0]?.succeed();
    const [one, other] = await Promise.all(given.slice(1));
    expect([one === other, signatures.length]).toEqual([true, 1]);
  });

  it("that can't be signed is an outage with its cause, and the next request signs again", async () => {
    const { signatures, secret } = rig({ atOnce: false });
    const cause = new Error("the service is busy");
    const failed = secret(undefined);
    signatures[0]?.fail(cause);
    await expect(failed).rejects.toMatchObject({ reason: "client_assertion", cause });
    const next = secret(undefined);
    signatures[1]?.succeed();
    expect(await next).toMatch(/./);
  });

  it("stays if the signature of an earlier one fails late", async () => {
    const { clock, signatures, secret } = rig({ atOnce: false });
    const earlier = secret(undefined);
    clock.setNow(clock.now() - HOUR);
    const newest = secret(undefined);
    signatures[1]?.succeed();
    await newest;
    signatures[0]?.fail(new Error("the service is busy"));
    await expect(earlier).rejects.toMatchObject({ reason: "client_assertion" });
    expect(await secret(undefined)).toBe(await newest);
    expect(signatures).toHaveLength(2);
  });

  it("says that there is no key, if there is none", async () => {
    await expect(rig({ privateKey: null }).secret(undefined)).rejects.toMatchObject({
      reason: "client_assertion",
      cause: { message: "There is no private key." },
    });
  });
});
