/** The values of SECRET_KEY in the documentation. They are public, so they are not secrets. */
const PLACEHOLDERS: readonly string[] = ["put-at-least-32-random-bytes-here-please", "at-least-32-random-bytes-go-here"];

export function isPlaceholderSecret(secret: string): boolean {
  return PLACEHOLDERS.includes(secret.trim());
}
