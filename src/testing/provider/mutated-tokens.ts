import type { IdTokenDraft, MutatedIdToken } from "./test-provider-state.js";

type Draft = Omit<IdTokenDraft, "grant">;

/**
 * Returns the signed token that a test's hook wants.
 *
 * @param returned of the hook; undefined: the draft, changed in place
 * @throws TypeError
 */
export function mutatedToken(hook: string, returned: unknown, draft: Draft): string {
  assertMutated(hook, returned, draft);
  const mutated = returned ?? draft;
  return typeof mutated === "string"
    ? mutated
    : draft.sign(mutated.header ?? draft.header, mutated.claims ?? draft.claims);
}

/**
 * Checks the hook's result. Without the check, claims alone or a list would be ignored, and the
 * test would prove nothing.
 *
 * @throws TypeError
 */
function assertMutated(
  hook: string,
  mutated: unknown,
  draft: Draft,
): asserts mutated is MutatedIdToken | undefined {
  if (mutated === undefined || typeof mutated === "string") return;
  const names = typeof mutated === "object" && mutated !== null ? Object.keys(mutated) : [];
  const { header, claims } = Object(mutated) as {
    readonly header?: unknown;
    readonly claims?: unknown;
  };
  const areParts = [header, claims].every(
    (part) => part === undefined || typeof part === "string" || Object(part) === part,
  );
  // A copy of the draft also has its other members.
  const areKnown = names.every((name) => Object.hasOwn(draft, name));
  if ((names.includes("header") || names.includes("claims")) && areKnown && areParts) return;
  throw new TypeError(
    `\`${hook}\` must return { header, claims }, one of the two, the finished token as a string, or nothing.`,
  );
}
