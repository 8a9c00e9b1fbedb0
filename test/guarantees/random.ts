import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";

/**
 * One seeded source of chance (mulberry32). Everything that an interleaving decides comes from one
 * of these.
 */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** In [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number from 0 up to, and without, `bound`. */
  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new RangeError("there is nothing to pick from");
    return item;
  }

  bytes(size: number): Buffer {
    const bytes = Buffer.alloc(size);
    for (let at = 0; at < size; at += 1) bytes[at] = this.below(256);
    return bytes;
  }
}

/**
 * Makes the code under test take its chance from here: `Math.random`, and `randomBytes`, so that a
 * seed replays to the byte and a check can open every sealed record.
 *
 * @param onBytes told of each value that was given out
 * @returns a function that puts the real ones back
 */
export function seedTheWorld(random: Random, onBytes: (bytes: Buffer) => void): () => void {
  const { randomBytes } = crypto;
  const mathRandom = Math.random;
  crypto.randomBytes = ((size: number) => {
    const bytes = random.bytes(size);
    onBytes(bytes);
    return bytes;
  }) as typeof randomBytes;
  Math.random = () => random.next();
  syncBuiltinESMExports();
  return () => {
    crypto.randomBytes = randomBytes;
    Math.random = mathRandom;
    syncBuiltinESMExports();
  };
}
