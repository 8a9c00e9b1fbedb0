import type { StartedApplication } from "../application-starter.js";

/** Returns every secret of the run: its kind and its value. */
export function secretsOf({ provider }: StartedApplication): readonly (readonly [kind: string, value: string])[] {
  const found: [string, string][] = [
    ["client secret", provider.clientSecret],
    ["SECRET_KEY", "a secret key of at least 32 bytes"],
    ...provider.issued.map(({ kind, value }): [string, string] => [kind, value]),
  ];
  for (const { query, params } of provider.requests) {
    for (const [kind, value] of [
      ["state", query.get("state")],
      ["nonce", query.get("nonce")],
      ["verifier", params.get("code_verifier")],
    ] as const) {
      if (value !== null) found.push([kind, value]);
    }
  }
  return found;
}

/** Returns the kinds of secrets in a text, unchanged or encoded for JSON or a URL. */
export function leaksIn(text: string, secrets: ReturnType<typeof secretsOf>): readonly string[] {
  return secrets
    .filter(([, value]) => [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)].some((form) => text.includes(form)))
    .map(([kind]) => kind);
}
