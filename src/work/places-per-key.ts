/** How much may be open at a time for one key, such as the streams of one session. */

/** Seconds after which a session may try to open another stream. */
export const STREAM_RETRY_SECONDS = 10;

export interface Places {
  /**
   * Takes a place.
   *
   * @param key undefined: what is opened belongs to nobody who could be known again, so it isn't
   *   counted
   * @returns a function that gives the place back, once; undefined: all are taken
   */
  take(key: string | undefined): (() => void) | undefined;
}

/** @param most the places of each key; 0: as many as one likes */
export function createPlaces(most: number): Places {
  const taken = new Map<string, number>();
  return {
    take(key) {
      if (key === undefined || most === 0) return () => undefined;
      const count = taken.get(key) ?? 0;
      if (count >= most) return undefined;
      taken.set(key, count + 1);
      let isTaken = true;
      return () => {
        if (!isTaken) return;
        isTaken = false;
        const left = (taken.get(key) ?? 0) - 1;
        if (left > 0) taken.set(key, left);
        else taken.delete(key);
      };
    },
  };
}
