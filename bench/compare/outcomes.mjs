// What came of requests, in the words of the page.

/** @param {{ status: number, location?: string }} response @returns {string} */
export function outcomeOf({ status, location }) {
  if (status === 200) return "200";
  if (location !== undefined && status < 400) return `${status} to the sign-in`;
  return String(status);
}

/** @param {string} outcome of a request of a user whose session has gone or is of no use */
export function wordsOf(outcome) {
  return outcome.startsWith("401") || outcome.endsWith("to the sign-in")
    ? "signed out"
    : `${outcome} until a new sign-in`;
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
