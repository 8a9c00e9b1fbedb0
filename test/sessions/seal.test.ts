import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSealer, newCookieValue, storeKeyOf } from "../../src/sessions/seal.js";

const SECRET = "a secret key of at least 32 bytes";
const OLD_SECRET = "the secret key of the year before this";

const cookie = newCookieValue();
const key = storeKeyOf(cookie);
const sealer = createSealer(SECRET, []);

describe("a sealed record", () => {
  it("opens to what was sealed", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (plain) => {
        expect(sealer.open(sealer.seal(plain, cookie, key), cookie, key)).toBe(plain);
      }),
    );
  });

  it("holds nothing of it in the clear", () => {
    const plain = JSON.stringify({ credentials: { token: "at_very_secret", refresh_token: "rt_very_secret" }, email: "ada@example.com" });
    const sealed = Buffer.from(sealer.seal(plain, cookie, key));
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

  it("is sealed differently each time", () => {
    const [one, other] = [sealer.seal("the same", cookie, key), sealer.seal("the same", cookie, key)];
    expect(Buffer.from(one).equals(Buffer.from(other))).toBe(false);
  });

  it("does not open when any one bit of any byte was changed: version, nonce, text, tag", () => {
    const sealed = sealer.seal("some record", cookie, key);
    for (let at = 0; at < sealed.length; at += 1) {
      for (const bit of [1, 128]) {
        const changed = Uint8Array.from(sealed);
        changed[at] = changed[at]! ^ bit;
        expect(sealer.open(changed, cookie, key), `byte ${at}`).toBeUndefined();
      }
    }
  });

  it("does not open when it was cut or lengthened", () => {
    const sealed = sealer.seal("some record", cookie, key);
    for (let length = 0; length < sealed.length; length += 1) {
      expect(sealer.open(sealed.subarray(0, length), cookie, key), `${length} bytes`).toBeUndefined();
    }
    expect(sealer.open(Buffer.concat([sealed, Buffer.of(0)]), cookie, key)).toBeUndefined();
  });

  it("does not open from arbitrary bytes, and never throws", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (bytes, versioned) => {
        expect(sealer.open(versioned ? Buffer.concat([Buffer.of(1), bytes]) : bytes, cookie, key)).toBeUndefined();
      }),
    );
  });

  it("does not open with another cookie, though the store key and SECRET_KEY are right", () => {
    expect(sealer.open(sealer.seal("some record", cookie, key), newCookieValue(), key)).toBeUndefined();
  });

  it("does not open with the store key in the cookie's place: what the store knows is not enough", () => {
    expect(sealer.open(sealer.seal("some record", cookie, key), key, key)).toBeUndefined();
  });

  it("does not open under another store key: a record cannot be moved", () => {
    expect(sealer.open(sealer.seal("some record", cookie, key), cookie, storeKeyOf(newCookieValue()))).toBeUndefined();
  });

  it("does not open with another SECRET_KEY", () => {
    expect(createSealer(OLD_SECRET, []).open(sealer.seal("some record", cookie, key), cookie, key)).toBeUndefined();
  });
});

describe("SECRET_KEY_FALLBACKS", () => {
  const before = createSealer(OLD_SECRET, []);
  const after = createSealer(SECRET, ["yet another key that was never in use", OLD_SECRET]);

  it("still open what they sealed", () => {
    expect(after.open(before.seal("some record", cookie, key), cookie, key)).toBe("some record");
  });

  it("do not seal: SECRET_KEY does", () => {
    const sealed = after.seal("some record", cookie, key);
    expect(sealer.open(sealed, cookie, key)).toBe("some record");
    expect(before.open(sealed, cookie, key)).toBeUndefined();
  });

  it("first phase of a rotation: with the new key as a fallback everywhere, both processes open both", () => {
    const first = createSealer(OLD_SECRET, [SECRET]);
    expect(first.open(after.seal("new", cookie, key), cookie, key)).toBe("new");
    expect(after.open(first.seal("old", cookie, key), cookie, key)).toBe("old");
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
    const expected = Buffer.from("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "hex").toString("base64url");
    expect(storeKeyOf("abc")).toBe(expected);
  });
});

describe("the subject hash", () => {
  it("is the same for the same person, whatever session", () => {
    expect(createSealer(SECRET, []).subjectHashes("https://issuer.example", "ada")[0]).toBe(
      sealer.subjectHashes("https://issuer.example", "ada")[0],
    );
  });

  it("tells nothing without the key", () => {
    expect(createSealer(OLD_SECRET, []).subjectHashes("https://issuer.example", "ada")[0]).not.toBe(
      sealer.subjectHashes("https://issuer.example", "ada")[0],
    );
    expect(sealer.subjectHashes("https://issuer.example", "ada")[0]).not.toContain("ada");
  });

  it("differs for any two different pairs, wherever the border between issuer and subject lies", () => {
    expect(sealer.subjectHashes("a", "bc")[0]).not.toBe(sealer.subjectHashes("ab", "c")[0]);
    expect(sealer.subjectHashes("", "1:a")[0]).not.toBe(sealer.subjectHashes("1:a", "")[0]);
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.nat(), (issuer, subject, cut) => {
        const all = issuer + subject;
        const at = cut % (all.length + 1);
        if (at === issuer.length) return;
        expect(sealer.subjectHashes(all.slice(0, at), all.slice(at))[0]).not.toBe(sealer.subjectHashes(issuer, subject)[0]);
      }),
    );
  });
});
