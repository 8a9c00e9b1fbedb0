import type { Stored } from "../../ports/session-store.js";

/** One entry of the memory store, and its position in the queue. */
export interface Slot {
  readonly key: string;
  /** Never modified, so that callers can share it. */
  stored: Stored;
  /** Counts insertions: of two entries that expire in the same second, the older is first. */
  readonly order: number;
  /** Index in the queue. Only the queue changes it. */
  position: number;
}

/**
 * Entries by expiry, the soonest first. A binary heap whose members store their index, so that any member is removed in logarithmic
 * time. It tells a store of any size at once whether an entry has expired.
 */
export class ExpiryQueue {
  readonly #slots: Slot[] = [];

  get first(): Slot | undefined {
    return this.#slots[0];
  }

  add(slot: Slot): void {
    slot.position = this.#slots.length;
    this.#slots.push(slot);
    this.#rise(slot);
  }

  remove(slot: Slot): void {
    const last = this.#slots.pop();
    if (last === undefined || last === slot) return;
    last.position = slot.position;
    this.#slots[last.position] = last;
    this.#rise(last);
    this.#sink(last);
  }

  /** Call this when the slot's expiry has moved to a later time. */
  postponed(slot: Slot): void {
    this.#sink(slot);
  }

  #rise(slot: Slot): void {
    let position = slot.position;
    while (position > 0) {
      const parentPosition = (position - 1) >> 1;
      const parent = this.#slots[parentPosition];
      if (parent === undefined || !isBefore(slot, parent)) break;
      this.#place(parent, position);
      position = parentPosition;
    }
    this.#place(slot, position);
  }

  #sink(slot: Slot): void {
    let position = slot.position;
    for (;;) {
      const childPosition = this.#sooner(2 * position + 1, 2 * position + 2);
      const child = this.#slots[childPosition];
      if (child === undefined || !isBefore(child, slot)) break;
      this.#place(child, position);
      position = childPosition;
    }
    this.#place(slot, position);
  }

  #sooner(leftPosition: number, rightPosition: number): number {
    const left = this.#slots[leftPosition];
    const right = this.#slots[rightPosition];
    return left !== undefined && right !== undefined && isBefore(right, left) ? rightPosition : leftPosition;
  }

  #place(slot: Slot, position: number): void {
    slot.position = position;
    this.#slots[position] = slot;
  }
}

function isBefore(one: Slot, other: Slot): boolean {
  const difference = one.stored.expiresAt - other.stored.expiresAt;
  return difference < 0 || (difference === 0 && one.order < other.order);
}
