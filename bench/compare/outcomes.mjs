// What came of requests, in the words of docs/evidence/peers.json.

/** What the applications respond with when the API refuses the access token. */
const REFUSED = "the API refused the access token";

/** @param {{ status: number, location?: string, text: string }} response @returns {string} */
export function outcomeOf({ status, location, text }) {
  if (status === 200) return "200";
  if (location !== undefined && status < 400) return "redirected to the sign-in";
  if (status === 502 && text.includes(REFUSED)) return "token refused";
  return String(status);
}

/** Whether the same request may succeed later. @param {string} outcome */
export const mayRecover = (outcome) => /^(?:5|429|no response|token refused)/.test(outcome);

/** @param {string} outcome of a request of a user whose session has gone or is of no use */
export function wordsOf(outcome) {
  if (outcome === "401") return "signed out";
  return outcome.startsWith("redirected") ? outcome : `${outcome} until a new sign-in`;
}

/** @param {readonly string[]} outcomes @returns {string} such as "19 × 200, 1 × 401" */
export function tally(outcomes) {
  const counts = new Map();
  for (const outcome of outcomes) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return [...counts]
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([outcome, count]) => (outcomes.length === 1 ? outcome : `${count} × ${outcome}`))
    .join(", ");
}
