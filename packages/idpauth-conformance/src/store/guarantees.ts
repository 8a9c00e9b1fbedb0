/**
 * A feature that only some stores under test have and some requirements need. `bytes`: a store
 * outside the process, which gets encrypted bytes. `another` and `outage`: the members of that name
 * in `StoreUnderTest`. `getMany` and `ends`: the optional methods `getMany`, and `announceEnd` with
 * `watchEnds`. `lossyIndex`: the member of that name.
 */
export type StoreNeed = "bytes" | "another" | "outage" | OptionalMethod;

/**
 * What a store may lack. It loses no guarantee: idpauth has another way, or the store doesn't need
 * it.
 */
export type OptionalMethod = "getMany" | "ends" | "lossyIndex";

/** One of the seven guarantees that idpauth gives with a store that meets the requirements. */
export interface Guarantee {
  /** Its place in `GUARANTEES`, from 1. */
  readonly number: GuaranteeNumber;
  /** One short sentence. */
  readonly title: string;
  /** The feature that its proof needs. Without the feature, the verdict stays open. */
  readonly needs?: StoreNeed;
}

/** The place of a guarantee in `GUARANTEES`. */
export type GuaranteeNumber = 1 | 2 | 3 | 4 | 5 | 6 | 7;

/** The seven guarantees, in their order. */
export const GUARANTEES: readonly Guarantee[] = [
  {
    number: 1,
    title:
      "Any number of simultaneous requests in one process make one token request, and all get a response.",
  },
  {
    number: 2,
    title: "Any number of processes that share the store make one token request.",
    needs: "another",
  },
  { number: 3, title: "A late request uses the refreshed tokens, never the spent one." },
  {
    number: 4,
    title: "A slow provider lets no second refresher in; a refresher that dies is replaced.",
  },
  { number: 5, title: "No write of an old copy ever overwrites newer tokens." },
  { number: 6, title: "Logout wins over everything in flight: the session never comes back." },
  { number: 7, title: "An outage never signs a user out.", needs: "outage" },
];

/** Further properties that idpauth has with such a store: a short name and one sentence each. */
export const STORE_PROPERTIES = {
  /** Of `expiresAt`. */
  expiry: "A session lives exactly until its expiry.",
  /** Of `lastActive` and `touch`. */
  idle: "The idle timeout counts from the last activity.",
  /** Of `listBySubject` and `listBySid`. */
  everywhere: "Signing out everywhere ends all sessions of a user, and no other user's.",
  /** Of `data` and of error messages. */
  secrecy: "Encrypted bytes return unchanged and appear in no message.",
  /** Of `announceEnd` and `watchEnds`. */
  ends: "Open connections learn of the end of their session without polling.",
  /** Of keys: each has its own entry. */
  separation: "No user gets another user's session.",
} as const;

/** The feature that the proof of a property needs. Without the feature, the verdict stays open. */
export const PROPERTY_NEEDS: Readonly<Partial<Record<StoreProperty, StoreNeed>>> = { ends: "ends" };

/** The name of a property. */
export type StoreProperty = keyof typeof STORE_PROPERTIES;
