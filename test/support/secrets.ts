import type { Application } from "./application.js";

/** The SECRET_KEY of every application under test, unless its options say otherwise. */
const SECRET_KEY = "a secret key of at least 32 bytes";

/**
 * Everything that a run has made and that nobody may read: by what it is, so that a failure says
 * what leaked.
 */
export function secretsOf({
  provider,
}: Application): { readonly kind: string; readonly value: string }[] {
  const found = [
    { kind: "client secret", value: provider.clientSecret },
    { kind: "SECRET_KEY", value: SECRET_KEY },
    ...provider.issued,
  ];
  for (const { query, params } of provider.requests) {
    for (const name of ["state", "nonce"]) {
      const value = query.get(name);
      if (value !== null) found.push({ kind: name, value });
    }
    const verifier = params.get("code_verifier");
    if (verifier !== null) found.push({ kind: "verifier", value: verifier });
  }
  return found;
}

/** The kinds of secrets that stand in a text, whether as they are or written for a URL. */
export function leaksIn(
  text: string,
  secrets: readonly { readonly kind: string; readonly value: string }[],
): string[] {
  return secrets
    .filter(
      ({ value }) =>
        text.includes(value) ||
        text.includes(encodeURIComponent(value)) ||
        text.includes(JSON.stringify(value).slice(1, -1)),
    )
    .map(({ kind }) => kind);
}
