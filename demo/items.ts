/** One entry of a user's list at /app/. */
export interface Item {
  readonly id: number;
  readonly text: string;
}

/** The most items of one user; the oldest goes first. */
const MOST = 20;
const LONGEST = 100;

const EXAMPLES = ["Order punched cards", "Oil the difference engine", "Answer Mr Babbage"];

/** The items of all users, in this process's memory. */
export class Items {
  readonly #examples: readonly string[];
  readonly #byUser = new Map<string, readonly Item[]>();
  #lastId = 0;

  constructor(examples = EXAMPLES) {
    this.#examples = examples;
  }

  /** Returns the user's items; three examples for a new user. */
  of(user: string): readonly Item[] {
    const known = this.#byUser.get(user);
    if (known !== undefined) return known;
    for (const text of this.#examples) this.add(user, text);
    return this.of(user);
  }

  add(user: string, text: string): Item {
    this.#lastId += 1;
    const item = { id: this.#lastId, text };
    this.#byUser.set(user, [...(this.#byUser.get(user) ?? []), item].slice(-MOST));
    return item;
  }
}

/**
 * Returns the text of a new item in the body of a request, `{ "text": "…" }`; undefined if it is
 * not one of 1 to 100 characters.
 */
export function newItemText(body: string | undefined): string | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body ?? "");
  } catch {
    return undefined;
  }
  if (
    typeof parsed !== "object" ||
    parsed === null ||
    !("text" in parsed) ||
    typeof parsed.text !== "string"
  )
    return undefined;
  const text = parsed.text.trim();
  return text === "" || text.length > LONGEST ? undefined : text;
}
