/**
 * What only some stores under test have, and some requirements take: `bytes`, a store outside the process, which is handed
 * sealed bytes; `another` and `outage`, the powers of that name in `StoreUnderTest`.
 */
export type StoreNeed = "bytes" | "another" | "outage";

/** One of the seven guarantees that the component gives over a store that meets its requirements. */
export interface Guarantee {
  readonly number: GuaranteeNumber;
  /** One short sentence. */
  readonly title: string;
  /** What its proof takes: without it, it is never said to be given. */
  readonly needs?: StoreNeed;
}

export type GuaranteeNumber = 1 | 2 | 3 | 4 | 5 | 6 | 7;

/** The seven guarantees, in their order. */
export const GUARANTEES: readonly Guarantee[] = [
  { number: 1, title: "Any number of requests at once, in one process, make one token request, and all are answered." },
  { number: 2, title: "Any number of processes that share the store make one token request together.", needs: "another" },
  { number: 3, title: "A late request uses the refreshed tokens, never the spent one." },
  { number: 4, title: "A slow provider lets no second refresher in; a refresher that dies is replaced." },
  { number: 5, title: "No write of an old copy ever overwrites newer tokens." },
  { number: 6, title: "Logout wins over everything in flight: the session never comes back." },
  { number: 7, title: "An outage never signs anyone out.", needs: "outage" },
];

/** What else is promised over a store, beside the seven: a short name and one sentence. */
export const STORE_PROPERTIES = {
  expiry: "A session lives exactly until its expiry.",
  idle: "The idle timeout counts from the last activity.",
  everywhere: "Signing out everywhere reaches all sessions of a person, and nobody else's.",
  secrecy: "Sealed bytes come back as they went in, and are shown to nobody.",
  separation: "No visitor is given another visitor's session.",
} as const;

export type StoreProperty = keyof typeof STORE_PROPERTIES;
