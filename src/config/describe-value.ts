// How error texts speak of a value that somebody set: what kind of thing it is, and, unless it is a secret, the value.

const SHOWN_LENGTH = 40;

/** What kind of thing a value is: "a string", "a negative number". Gives away nothing of its content. */
export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return kindOfList(value);
  switch (typeof value) {
    case "string":
      if (value === "") return "an empty string";
      return value.trim() === "" ? "a blank string" : "a string";
    case "number":
      if (!Number.isFinite(value)) return "not a finite number";
      if (value < 0) return "a negative number";
      return Number.isInteger(value) ? "a number" : "a fraction";
    case "undefined":
      return "undefined";
    case "object":
      return "an object";
    default:
      return `a ${typeof value}`;
  }
}

/** Names the first thing in a list that is no text; a list in a list is not looked into. */
function kindOfList(items: readonly unknown[]): string {
  if (items.length === 0) return "an empty list";
  const odd = Array.from(items).find((item) => typeof item !== "string" || item.trim() === "");
  if (odd === undefined && !items.includes(undefined)) return "a list";
  return `a list that holds ${Array.isArray(odd) ? "a list" : kindOf(odd)}`;
}

/** As {@link kindOf}, for text from the environment, where a number is a text, too. */
export function kindOfText(text: string): string {
  return /^-?\d+(?:\.\d+)?$/.test(text) ? kindOf(Number(text)) : kindOf(text);
}

/**
 * The value itself for a message: quoted, shortened, one line, without characters that a terminal acts on, and without
 * the user info of a URL, which may hold a password. Empty for what has no short form.
 */
export function quoted(value: unknown): string {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (Array.isArray(value))
    return quoted(
      value
        .filter((item) => typeof item === "string")
        .slice(0, SHOWN_LENGTH)
        .join(" "),
    );
  if (typeof value !== "string" || value === "") return "";
  const masked = withoutUserInfo(value);
  const short = masked.length > SHOWN_LENGTH ? `${masked.slice(0, SHOWN_LENGTH)}…` : masked;
  return JSON.stringify(short).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "\uFFFD");
}

/**
 * What is refused is often no URL, because its password was not encoded (`https://ada:pa/ss@…`), or because its slashes are
 * missing: so everything between a scheme and the last `@` goes.
 */
function withoutUserInfo(value: string): string {
  const at = value.lastIndexOf("@");
  if (at < 0) return value;
  const scheme = /^\s*(?:[a-z][a-z0-9+.-]*:)?\/{0,2}/i.exec(value.slice(0, Math.min(at, SHOWN_LENGTH)))?.[0] ?? "";
  return `${scheme}***${value.slice(at)}`;
}
