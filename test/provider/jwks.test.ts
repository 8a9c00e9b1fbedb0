import { generateKeyPair, createPublicKey } from "node:crypto";
import { promisify } from "node:util";
import { beforeEach, describe, expect, it } from "vitest";
import type { SignIn } from "../../src/record/credentials.js";
import { byStranger, STRANGER } from "../support/foreign-signature.js";
import { refused, rejection, unavailable, type Rig } from "./rig.js";
import { rig, shareRig } from "./shared-rig.js";

const generate = promisify(generateKeyPair);
let signedIn: SignIn;

shareRig();
beforeEach(async () => {
  signedIn = await rig.exchange();
  rig.idp.requests.length = 0;
});

const fetches = () => rig.idp.requestsTo("jwks").length;
const accepted = expect.objectContaining({ sub: "ada-1815" }) as unknown;
const signInAgain = async () => (await rig.exchange()).idInfo;

describe("the life of the provider's keys", () => {
  it("they are fetched once, however many tokens come", async () => {
    await Promise.all([signInAgain(), signInAgain(), rig.renew(signedIn)]);
    expect(fetches()).toBe(0);
  });

  it("many first tokens at once share one fetch", async () => {
    const cold = rig.settingsWith({});
    await Promise.all(Array.from({ length: 10 }, () => rig.exchange(cold)));
    expect(fetches()).toBe(1);
    expect(rig.idp.requestsTo("discovery")).toHaveLength(1);
  });

  it.each([[true], [false]])(
    "[F8] a rotation is followed with one fetch (old key kept: %s)",
    async (keepOld) => {
      await rig.idp.rotateKeys({ keepOld });
      expect(await rig.renew(signedIn)).toEqual(accepted);
      expect(fetches()).toBe(1);
    },
  );

  it("[F8] an old key that was removed signs nothing any more", async () => {
    const { sign } = await draftOf(rig);
    await rig.idp.rotateKeys({ keepOld: false });
    await signInAgain();
    rig.idp.mutateIdToken = ({ claims }) => sign(claims);
    expect(await rejection(signInAgain())).toBe(unavailable("unknown_key"));
  });

  it("[F8] a kid that is used again for another key is followed with one fetch", async () => {
    await rig.idp.rotateKeys({
      keepOld: false,
      kid: rig.idp.jwks.document().keys[0]?.["kid"] as string,
    });
    expect(await rig.renew(signedIn)).toEqual(accepted);
    expect(fetches()).toBe(1);
  });

  it.each([[true], [false]])(
    "[F8] a new key that signs under the old one's name is found among the newest keys (old key kept: %s)",
    async (keepOld) => {
      const [old] = rig.idp.jwks.document().keys;
      await rig.idp.rotateKeys({ keepOld });
      rig.idp.mutateIdToken = (draft) => ({
        header: { ...draft.header, kid: old?.["kid"] as string },
      });
      expect(await rig.renew(signedIn)).toEqual(accepted);
      expect(await signInAgain()).toEqual(accepted);
      expect(fetches()).toBe(1);
    },
  );

  it("[F8] without any kid every key that fits is tried", async () => {
    rig.idp.jwks.publishWithoutKid();
    await rig.idp.jwks.publishSeveral(3);
    const cold = rig.settingsWith({});
    await expect(rig.exchange(cold)).resolves.toBeDefined();
    await rig.idp.rotateKeys({ keepOld: false });
    await expect(rig.exchange(cold)).resolves.toBeDefined();
    expect(fetches()).toBe(2);
  });

  it("without any kid, a signature under none of the newest keys is refused", async () => {
    rig.idp.jwks.publishWithoutKid();
    const cold = rig.settingsWith({});
    await rig.exchange(cold);
    rig.idp.mutateIdToken = byStranger();
    expect(await rejection(rig.exchange(cold))).toBe(refused("id_token_signature"));
    // Within the interval nothing newer can be had: no verdict.
    expect(await rejection(rig.exchange(cold))).toBe(unavailable("unknown_key"));
    expect(fetches()).toBe(2);
  });

  it("[F9] a flood of tokens with one unknown kid forces one fetch per 30 s", async () => {
    rig.idp.mutateIdToken = byStranger({ kid: "nobody-knows" });
    const reasons = await Promise.all(Array.from({ length: 50 }, () => rejection(rig.exchange())));
    expect(new Set(reasons)).toEqual(new Set([unavailable("unknown_key")]));
    expect(fetches()).toBe(1);
    rig.clock.advance(29_999);
    await rejection(rig.exchange());
    expect(fetches()).toBe(1);
    rig.clock.advance(2000);
    await rejection(rig.exchange());
    expect(fetches()).toBe(2);
  });

  it("[F9] while the endpoint is down, its back-off spaces the fetches", async () => {
    rig.idp.fault("jwks", { kind: "status", status: 500 });
    rig.idp.mutateIdToken = byStranger({ kid: "nobody-knows" });
    for (let second = 0; second < 30; second++) {
      expect([unavailable("jwks"), unavailable("backing_off")]).toContain(
        await rejection(rig.exchange()),
      );
      rig.clock.advance(1000);
    }
    // At once, and after 1, 2, 4, 8 and 16 seconds, of which the jitter takes up to a quarter.
    expect(fetches()).toBeGreaterThanOrEqual(5);
    expect(fetches()).toBeLessThanOrEqual(6);
  });

  it("a new key whose fetch failed is fetched again as soon as the back-off allows it", async () => {
    await rig.idp.rotateKeys({ keepOld: false });
    const end = rig.idp.fault("jwks", { kind: "status", status: 503 });
    expect(await rejection(signInAgain())).toBe(unavailable("jwks"));
    end();
    rig.clock.advance(1000);
    expect(await signInAgain()).toEqual(accepted);
  });

  it("[F9] a flood of tokens with different unknown kids forces ten fetches per 30 s", async () => {
    let count = 0;
    const flood = async () => {
      rig.idp.mutateIdToken = (draft) =>
        byStranger({ kid: `unknown-${String((count += 1))}` })(draft);
      for (let attempt = 0; attempt < 15; attempt++)
        expect(await rejection(rig.exchange())).toBe(unavailable("unknown_key"));
    };
    await flood();
    expect(fetches()).toBe(10);
    rig.clock.advance(30_000);
    await flood();
    expect(fetches()).toBe(20);
  });

  it("[F9] an unknown kid fails its own sign-in only: no other sign-in or refresh is delayed, and none fails", async () => {
    const others = await Promise.all(Array.from({ length: 3 }, () => rig.exchange()));
    rig.idp.mutateIdToken = byStranger({ kid: "nobody-knows" });
    for (let attempt = 0; attempt < 3; attempt++)
      expect(await rejection(rig.exchange())).toBe(unavailable("unknown_key"));
    rig.idp.mutateIdToken = undefined;
    expect(await signInAgain()).toEqual(accepted);
    for (const other of others) expect(await rig.renew(other)).toEqual(accepted);
  });

  it("a new key is found at once although other unknown keys and wrong signatures were just tried", async () => {
    for (const kid of ["one", "two", "three"]) {
      rig.idp.mutateIdToken = byStranger({ kid });
      await rejection(rig.exchange());
    }
    rig.idp.mutateIdToken = byStranger();
    await rejection(rig.exchange());
    rig.idp.mutateIdToken = undefined;
    await rig.idp.rotateKeys({ keepOld: false });
    expect(await signInAgain()).toEqual(accepted);
  });

  it("a fetch that the back-off blocks uses up no kid's turn", async () => {
    rig.idp.fault("jwks", { kind: "status", status: 500, times: 1 });
    rig.idp.mutateIdToken = byStranger({ kid: "nobody-knows" });
    expect(await rejection(rig.exchange())).toBe(unavailable("jwks"));
    rig.idp.mutateIdToken = undefined;
    await rig.idp.rotateKeys({ keepOld: false });
    expect(await rejection(rig.exchange())).toBe(unavailable("jwks"));
    rig.clock.advance(1000);
    expect(await signInAgain()).toEqual(accepted);
  });

  it("a token that only joined a fetch from before it came has the keys fetched again", async () => {
    rig.clock.advance(10 * 60_000);
    const hold = rig.idp.hold("jwks", { before: false });
    // The background's fetch, whose response is made before the rotation.
    await signInAgain();
    await hold.arrived;
    await rig.idp.rotateKeys({ keepOld: false });
    const waiting = signInAgain();
    await expect.poll(() => rig.idp.requestsTo("token").length).toBe(2);
    hold.release();
    expect(await waiting).toEqual(accepted);
  });

  it("[F8] [IDT-5] a wrong signature is refused only under a key that was fetched after the token came", async () => {
    const other = await rig.exchange();
    rig.idp.mutateIdToken = byStranger();
    expect(await rejection(rig.renew(signedIn))).toBe(refused("id_token_signature"));
    // The key changes under the same kid in the 30 s after that fetch.
    rig.idp.mutateIdToken = undefined;
    await rig.idp.rotateKeys({
      keepOld: false,
      kid: rig.idp.jwks.document().keys[0]?.["kid"] as string,
    });
    const spent = await rig.refresh(other.credentials.refresh_token ?? "", "session-2");
    expect(await rejection(rig.verify(spent, other))).toBe(unavailable("unknown_key"));
    rig.clock.advance(30_000);
    expect(await rig.verify(spent, other)).toEqual(accepted);
  });

  it("[F10] while the endpoint is down the keys at hand serve, for up to 24 h", async () => {
    rig.idp.fault("jwks", { kind: "status", status: 500 });
    rig.clock.advance(24 * 3600_000);
    expect(await signInAgain()).toEqual(accepted);
    await expect.poll(() => rig.logged.length).toBe(1);
    rig.clock.advance(60_000);
    expect(await rejection(signInAgain())).toBe(unavailable("jwks"));
    rig.idp.clearFaults();
    rig.clock.advance(60_000);
    expect(await signInAgain()).toEqual(accepted);
  });

  it("they are renewed in the background, without anybody waiting", async () => {
    rig.clock.advance(10 * 60_000);
    const hold = rig.idp.hold("jwks");
    expect(await signInAgain()).toEqual(accepted);
    await hold.arrived;
    hold.release();
    expect(fetches()).toBe(1);
  });

  it.each([
    [
      "an empty set",
      () => {
        rig.idp.jwks.publishEmpty();
      },
    ],
    [
      "garbage",
      () => {
        rig.idp.jwks.publishGarbage();
      },
    ],
    [
      "a list",
      () => {
        rig.idp.jwks.publish([]);
      },
    ],
    [
      "keys that are no list",
      () => {
        rig.idp.jwks.publish({ keys: {} });
      },
    ],
    [
      "keys that are no keys",
      () => {
        rig.idp.jwks.publish({ keys: [null, 1, "x", {}, { kty: "RSA", n: "!", e: 1 }] });
      },
    ],
    [
      "a redirect",
      () => {
        rig.idp.fault("jwks", { kind: "redirect" });
      },
    ],
    [
      "an oversized set",
      () => {
        rig.idp.fault("jwks", { kind: "oversized" });
      },
    ],
  ])("[F11] %s never replaces a good set", async (_name, spoil) => {
    spoil();
    const { mutateIdToken } = rig.idp;
    rig.idp.mutateIdToken = byStranger({ kid: "forces-a-fetch" });
    expect(await rejection(signInAgain())).toBe(unavailable("jwks"));
    expect(fetches()).toBe(1);
    rig.idp.mutateIdToken = mutateIdToken;
    expect(await signInAgain()).toEqual(accepted);
  });

  it("keys of unknown kinds, broken, private, too short or for encryption are skipped", async () => {
    const good = rig.idp.jwks.document().keys;
    const short = (await generate("rsa", { modulusLength: 1024 })).publicKey.export({
      format: "jwk",
    });
    const secret = (await generate("ec", { namedCurve: "P-256" })).privateKey.export({
      format: "jwk",
    });
    rig.idp.jwks.publish({
      keys: [
        { kty: "AKP", alg: "ML-DSA-99", pub: "x" },
        null,
        { kty: "RSA" },
        { kty: "oct", k: "AAAA" },
        short,
        secret,
        { ...good[0], use: "enc" },
        ...good,
      ],
    });
    await expect(rig.exchange(rig.settingsWith({}))).resolves.toBeDefined();
  });

  it("[L3] no more than 100 keys are read", async () => {
    const [good] = rig.idp.jwks.document().keys;
    const decoys = Array.from({ length: 100 }, (_, index) => ({
      ...createPublicKey(STRANGER).export({ format: "jwk" }),
      kid: `decoy-${String(index)}`,
    }));
    rig.idp.jwks.publish({ keys: [...decoys, good] });
    expect(await rejection(rig.exchange(rig.settingsWith({})))).toBe(unavailable("unknown_key"));
    rig.idp.jwks.publish({ keys: [...decoys.slice(1), good] });
    await expect(rig.exchange(rig.settingsWith({}))).resolves.toBeDefined();
  });

  it("wrong claims are refused while the keys cannot be fetched", async () => {
    rig.idp.fault("jwks", { kind: "status", status: 500 });
    rig.idp.mutateIdToken = ({ claims }) => ({ claims: { ...claims, aud: "another-client" } });
    expect(await rejection(rig.exchange(rig.settingsWith({})))).toBe(refused("id_token_aud"));
    expect(fetches()).toBe(0);
  });

  it("a wrong signature is an outage while the endpoint is down, since its key may have changed", async () => {
    rig.idp.fault("jwks", { kind: "reset" });
    rig.idp.mutateIdToken = byStranger();
    expect(await rejection(rig.renew(signedIn))).toBe(unavailable("jwks"));
  });
});

/** Signs with the key of now, also after a rotation. */
async function draftOf({
  idp,
  exchange,
}: Rig): Promise<{ sign: (claims: Record<string, unknown>) => string }> {
  let sign: ((claims: Record<string, unknown>) => string) | undefined;
  idp.mutateIdToken = (draft) => {
    sign = (claims) => draft.sign(draft.header, claims, draft.privateKey);
    return draft;
  };
  await exchange();
  idp.mutateIdToken = undefined;
  if (sign === undefined) throw new Error("no ID token was made");
  return { sign };
}
