/** What is remembered of one request: a list, for each mount of the component remembers something of its own. */
interface Entry {
  readonly owner: object;
  value: unknown;
  readonly next: Entry | undefined;
}

/** Gives back what it is handed instead of a new object, so that the private field of the class below lands on that. */
const Handed = function (request: object) {
  return request;
} as unknown as new (request: object) => object;

/**
 * Adds a private field to another module's object. Only this class can read the field, and the object is otherwise unchanged.
 * All owners share one class, because the engine makes fast code for one field.
 */
class Slot extends Handed {
  #first: Entry | undefined = undefined;

  static firstOf(request: object): Entry | undefined {
    return #first in request ? request.#first : undefined;
  }

  static put(request: object, entry: Entry): void {
    if (!(#first in request)) new Slot(request);
    (request as Slot).#first = entry;
  }
}

/**
 * Remembers one value for each request, for as long as the request lives: what a WeakMap does, without what a WeakMap costs
 * the garbage collector.
 */
export class PerRequest<Value> {
  /** For requests that are frozen: newer engines refuse them even a private field. */
  readonly #frozen = new WeakMap<object, Value>();

  get(request: object): Value | undefined {
    if (!Object.isExtensible(request)) return this.#frozen.get(request);
    for (let entry = Slot.firstOf(request); entry !== undefined; entry = entry.next) {
      if (entry.owner === this) return entry.value as Value;
    }
    return undefined;
  }

  set(request: object, value: Value): void {
    if (!Object.isExtensible(request)) {
      this.#frozen.set(request, value);
      return;
    }
    const first = Slot.firstOf(request);
    for (let entry = first; entry !== undefined; entry = entry.next) {
      if (entry.owner !== this) continue;
      entry.value = value;
      return;
    }
    Slot.put(request, { owner: this, value, next: first });
  }
}
