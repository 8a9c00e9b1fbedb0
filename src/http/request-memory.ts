/** The stored values of one request. A linked list, because each mount stores its own value. */
interface Entry {
  readonly owner: object;
  value: unknown;
  readonly next: Entry | undefined;
}

/** A constructor that returns its argument instead of a new object. So the subclass adds its private field to the argument. */
const GivenObject = function (request: object) {
  return request;
} as unknown as new (request: object) => object;

/**
 * Adds a private field to another module's object. Only this class can read the field, and the object is otherwise unchanged.
 * All owners share one class, because the engine makes fast code for one field.
 */
class Slot extends GivenObject {
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
 * Stores one value for each request, as long as the request exists. A WeakMap does the same, but costs more garbage collection.
 * For adapters: no other code sees the value, and the request stays unchanged.
 */
export class PerRequest<Value> {
  /** For frozen requests, because newer engines refuse to add a private field to them. */
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
