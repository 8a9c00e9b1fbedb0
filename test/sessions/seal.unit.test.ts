import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSealer } from "../../src/sessions/seal.js";
import { newCookieValue, storeKeyOf } from "../../src/sessions/cookie.js";

const SECRET = "a secret key of at least 32 bytes";
const OLD_SECRET = "the secret key of the year before this";

const client = { issuer: "https://issuer.example", clientId: "client" };
const cookie = "c".repeat(43);
const key = "the key of its session";
// Made inside each test, as is everything else here: what fails while a file is read is no failed
// test.
const sealer = () => createSealer(SECRET, []);

describe("an encrypted record", () => {
  it("opens to what was encrypted", () => {
    const one = sealer();
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (plain) => {
        expect(one.open(one.seal(plain, cookie, key), cookie, key)).toBe(plain);
      }),
    );
  });

  it("that is empty opens too", () => {
    expect(sealer().open(sealer().seal("", cookie, key), cookie, key)).toBe("");
  });

  it("holds nothing of it in the clear", () => {
    const plain = JSON.stringify({
      credentials: { token: "at_very_secret", refresh_token: "rt_very_secret" },
      email: "ada@example.com",
    });
    const sealed = Buffer.from(sealer().seal(plain, cookie, key));
    for (const form of ["latin1", "base64", "base64url", "hex"] as const) {
      const text = sealed.toString(form);
      for (const word of ["very_secret", "ada@example.com", "refresh_token", cookie, SECRET]) {
        expect(text).not.toContain(word);
        expect(text).not.toContain(
          Buffer.from(word)
            .toString(form === "latin1" ? "utf8" : form)
            .slice(0, 16),
        );
      }
    }
  });

  it("is encrypted differently each time", () => {
    const [one, other] = [
      sealer().seal("the same", cookie, key),
      sealer().seal("the same", cookie, key),
    ];
    expect(Buffer.from(one).equals(Buffer.from(other))).toBe(false);
  });

  it("does not open when any one bit of any byte was changed: version, nonce, ciphertext, tag", () => {
    const one = sealer();
    const sealed = one.seal("some record", cookie, key);
    for (let at = 0; at < sealed.length; at += 1) {
      for (const bit of [1, 128]) {
        const changed = Uint8Array.from(sealed);
        changed[at] = changed[at]! ^ bit;
        expect(one.open(changed, cookie, key), `byte ${at}`).toBeUndefined();
      }
    }
  });

  it("does not open when it was cut or lengthened", () => {
    const sealed = sealer().seal("some record", cookie, key);
    for (let length = 0; length < sealed.length; length += 1) {
      expect(
        sealer().open(sealed.subarray(0, length), cookie, key),
        `${length} bytes`,
      ).toBeUndefined();
    }
    expect(sealer().open(Buffer.concat([sealed, Buffer.of(0)]), cookie, key)).toBeUndefined();
  });

  it("does not open from arbitrary bytes, and never throws", () => {
    const one = sealer();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (bytes, versioned) => {
        expect(
          one.open(versioned ? Buffer.concat([Buffer.of(1), bytes]) : bytes, cookie, key),
        ).toBeUndefined();
      }),
    );
  });

  it("does not open with another cookie, though the store key and SECRET_KEY are correct", () => {
    expect(
      sealer().open(sealer().seal("some record", cookie, key), newCookieValue(), key),
    ).toBeUndefined();
  });

  it("does not open with the store key in the cookie's place: what the store knows is not enough", () => {
    expect(sealer().open(sealer().seal("some record", cookie, key), key, key)).toBeUndefined();
  });

  it("does not open under another store key: a record cannot be moved", () => {
    expect(
      sealer().open(
        sealer().seal("some record", cookie, key),
        cookie,
        storeKeyOf(newCookieValue()),
      ),
    ).toBeUndefined();
  });

  it("does not open with another SECRET_KEY", () => {
    expect(
      createSealer(OLD_SECRET, []).open(sealer().seal("some record", cookie, key), cookie, key),
    ).toBeUndefined();
  });
});

// Made by another implementation of HKDF, HMAC and AES-GCM: what a release has written, the next
// one must open.
describe("the format, version 1", () => {
  const owner = cookie;
  const record = "AQABAgMEBQYHCAkKC7Z49WLanFY7ZphkJtW9wK94NfSuAuFNIZGBU2k7wp0";
  const summary = "AQABAgMEBQYHCAkKC6STcvZYynXZeGhSGq4YVDKCsE7-QXn4gb_LEB7KVGA";
  const bytes = (text: string) => Buffer.from(text, "base64url");

  it("of a record, of a summary and of a subject hash stays what it is", () => {
    expect(sealer().open(bytes(record), owner, storeKeyOf(owner))).toBe('{"name":"Zo\u00eb"}');
    expect(sealer().openSummary(bytes(summary), storeKeyOf(owner))).toBe('{"name":"Zo\u00eb"}');
    expect(sealer().subjectHashes(client, "zo\u00eb")).toEqual([
      "4JgXK1T5q9AKC84kx7XKr0ND43Tvtx1qh5rQYMwG6y0",
    ]);
  });

  it("of the hashes of a provider session, of a stored logout and of an account stays what it is", () => {
    expect(sealer().sidHashes(client, "zo\u00eb")).toEqual([
      "rpN-SjMZMelqxmTlk36pEly8X1isYxCU7I1mcJH0UPg",
    ]);
    expect(sealer().logoutKeys(client, "sid", "zo\u00eb")).toEqual([
      "Rym1ofa_e0GSzdTcngNCjCGlxCmqZg8XytoJC4MH3EI",
    ]);
    expect(sealer().logoutKeys(client, "sub", "zo\u00eb")).toEqual([
      "qoV-b9QUg9Zc93SxmQacjED7Cugp2J7IizJe-8FqkXA",
    ]);
    expect(sealer().account(client.issuer, "zo\u00eb")).toBe(
      "vLZTciuJF-QuCjipHT3I3LKL3JwUwA5Rc8-6pf6kW4E",
    );
  });

  it("is written too: a version and 28 bytes beyond the JSON", () => {
    const plain = '{"name":"Zo\u00eb"}';
    for (const sealed of [
      sealer().seal(plain, owner, storeKeyOf(owner)),
      sealer().sealSummary(plain, storeKeyOf(owner)),
    ]) {
      expect(sealed).toHaveLength(bytes(record).length);
      expect(sealed[0]).toBe(1);
    }
  });

  it("a summary does not open as a record, nor a record as a summary", () => {
    expect(sealer().open(sealer().sealSummary("text", key), cookie, key)).toBeUndefined();
    expect(sealer().openSummary(sealer().seal("text", cookie, key), key)).toBeUndefined();
  });
});

describe("an encrypted summary", () => {
  it("opens under the same store key only", () => {
    const sealed = sealer().sealSummary("text", key);
    expect(sealer().openSummary(sealed, key)).toBe("text");
    expect(sealer().openSummary(sealed, storeKeyOf(newCookieValue()))).toBeUndefined();
  });

  it("opens under a fallback, and not under a key that is gone", () => {
    const before = createSealer(OLD_SECRET, []).sealSummary("text", key);
    expect(
      createSealer(SECRET, ["another one that was never in use", OLD_SECRET]).openSummary(
        before,
        key,
      ),
    ).toBe("text");
    expect(sealer().openSummary(before, key)).toBeUndefined();
  });
});

describe("SECRET_KEY_FALLBACKS", () => {
  const before = () => createSealer(OLD_SECRET, []);
  const after = () => createSealer(SECRET, ["yet another key that was never in use", OLD_SECRET]);

  it("still open what they encrypted", () => {
    expect(after().open(before().seal("some record", cookie, key), cookie, key)).toBe(
      "some record",
    );
  });

  it("do not encrypt: SECRET_KEY does", () => {
    const sealed = after().seal("some record", cookie, key);
    expect(sealer().open(sealed, cookie, key)).toBe("some record");
    expect(before().open(sealed, cookie, key)).toBeUndefined();
  });

  it("first phase of a rotation: with the new key as a fallback everywhere, both processes open both", () => {
    const first = createSealer(OLD_SECRET, [SECRET]);
    expect(first.open(after().seal("new", cookie, key), cookie, key)).toBe("new");
    expect(after().open(first.seal("old", cookie, key), cookie, key)).toBe("old");
  });
});

describe("the cookie's value and the store's key", () => {
  it("a value is 43 characters of base64url, new each time", () => {
    const values = new Set(Array.from({ length: 1000 }, newCookieValue));
    expect(values.size).toBe(1000);
    for (const value of values) expect(value).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });

  it("the key is the SHA-256 of the value in base64url", () => {
    // printf abc | sha256sum (FIPS 180-2, appendix B.1)
    const expected = Buffer.from(
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
      "hex",
    ).toString("base64url");
    expect(storeKeyOf("abc")).toBe(expected);
  });
});

describe("the subject hash", () => {
  it("is the same for the same user in every session", () => {
    expect(createSealer(SECRET, []).subjectHashes(client, "ada")[0]).toBe(
      sealer().subjectHashes(client, "ada")[0],
    );
  });

  it("is listed under SECRET_KEY first, then under each fallback in its order", () => {
    const of = (secret: string, fallbacks: string[] = []) =>
      createSealer(secret, fallbacks).subjectHashes(client, "s");
    expect(of(SECRET, [OLD_SECRET, "a third"])).toEqual([
      ...of(SECRET),
      ...of(OLD_SECRET),
      ...of("a third"),
    ]);
  });

  it("reveals nothing without the key", () => {
    expect(createSealer(OLD_SECRET, []).subjectHashes(client, "ada")[0]).not.toBe(
      sealer().subjectHashes(client, "ada")[0],
    );
    expect(sealer().subjectHashes(client, "ada")[0]).not.toContain("ada");
  });

  it("differs for any two different users, issuers and clients, wherever one ends and the next begins", () => {
    const one = sealer();
    const hashOf = (issuer: string, clientId: string, subject: string) =>
      one.subjectHashes({ issuer, clientId }, subject)[0];
    expect(hashOf("i", "one client", "ada")).not.toBe(hashOf("i", "other client", "ada"));
    expect(hashOf("a", "bc", "d")).not.toBe(hashOf("ab", "c", "d"));
    expect(hashOf("", "1:a", "")).not.toBe(hashOf("", "", "1:a"));
    const borders = fc.tuple(fc.nat(9), fc.nat(9)).map((cuts) => cuts.sort((a, b) => a - b));
    fc.assert(
      fc.property(
        fc.string({ minLength: 9, maxLength: 9 }),
        borders,
        borders,
        (all, [a, b], [c, d]) => {
          fc.pre(a !== c || b !== d);
          expect(hashOf(all.slice(0, a), all.slice(a, b), all.slice(b))).not.toBe(
            hashOf(all.slice(0, c), all.slice(c, d), all.slice(d)),
          );
        },
      ),
    );
  });
});

describe("the hashes of a provider's session, of a logout and of an account", () => {
  it("differ for different providers, clients, claims and values", () => {
    const one = sealer();
    const others = [
      client,
      { ...client, issuer: "https://other.example" },
      { ...client, clientId: "other" },
    ];
    const hashes = ["ada", "grace"].flatMap((value) => [
      ...others.flatMap((each) => [
        ...one.subjectHashes(each, value),
        ...one.sidHashes(each, value),
        ...one.logoutKeys(each, "sid", value),
        ...one.logoutKeys(each, "sub", value),
      ]),
      one.account(client.issuer, value),
      one.account("https://other.example", value),
    ]);
    expect(new Set(hashes).size).toBe(hashes.length);
  });

  it("are listed under SECRET_KEY first, then under each fallback in its order, so that a rotation loses no logout", () => {
    const rotated = createSealer(SECRET, [OLD_SECRET]);
    const before = createSealer(OLD_SECRET, []);
    expect(rotated.sidHashes(client, "s")).toEqual([
      ...sealer().sidHashes(client, "s"),
      ...before.sidHashes(client, "s"),
    ]);
    expect(rotated.logoutKeys(client, "sub", "s")).toEqual([
      ...sealer().logoutKeys(client, "sub", "s"),
      ...before.logoutKeys(client, "sub", "s"),
    ]);
  });

  it("of an account uses SECRET_KEY alone", () => {
    expect(createSealer(SECRET, [OLD_SECRET]).account(client.issuer, "ada")).toBe(
      sealer().account(client.issuer, "ada"),
    );
    expect(createSealer(OLD_SECRET, []).account(client.issuer, "ada")).not.toBe(
      sealer().account(client.issuer, "ada"),
    );
  });
});
