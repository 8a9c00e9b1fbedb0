/** Longer names are not typing mistakes. The limit also bounds the work. */
const MAX_NAME_LENGTH = 64;

/**
 * Returns the candidate that a mistyped name most likely means; undefined if none is similar. A
 * part of a candidate is similar (`maxAge` for `sessionMaxAge`). Letter case and underscores do not
 * count.
 */
export function nearestName(name: string, candidates: readonly string[]): string | undefined {
  const { length } = plain(name);
  const most = length < 5 ? 1 : Math.max(2, length / 3);
  return nearest(name, candidates, { distance: distanceOf, most });
}

/**
 * Returns the candidate that differs from a name by at most two letters (in a short name: one);
 * undefined if there is none. Letter case and underscores do not count.
 */
export function nearlySameName(name: string, candidates: readonly string[]): string | undefined {
  const most = plain(name).length < 8 ? 1 : 2;
  return nearest(name, candidates, { distance: editDistance, most });
}

function nearest(
  name: string,
  candidates: readonly string[],
  { distance, most }: { readonly distance: typeof editDistance; readonly most: number },
): string | undefined {
  if (name.length > MAX_NAME_LENGTH) return undefined;
  const distances = candidates.map((candidate) => distance(plain(name), plain(candidate)));
  const least = Math.min(...distances);
  return least <= most ? candidates[distances.indexOf(least)] : undefined;
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll("_", "");
}

function distanceOf(wanted: string, candidate: string): number {
  const isPart = wanted.length >= 4 && candidate !== wanted && candidate.includes(wanted);
  return isPart ? 1 : editDistance(wanted, candidate);
}

/** Returns the Levenshtein distance: how many letters are inserted, removed or replaced. */
function editDistance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = (above[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    above = current;
  }
  return above[b.length] ?? 0;
}
