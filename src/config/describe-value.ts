// Describes the value of a setting for error messages: its kind, and the value itself unless it is
// a secret.

const SHOWN_LENGTH = 40;
/** How many items of a list are looked at. A list in code may be of any length. */
const READ_ITEMS = 1000;

/** Returns the kind of a value in words, such as "a negative number". Never contains the value. */
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

/** Names the first item of a list that is not text. It does not look into nested lists. */
function kindOfList(list: readonly unknown[]): string {
  if (list.length === 0) return "an empty list";
  const items = list.slice(0, READ_ITEMS);
  const odd = items.find((item) => typeof item !== "string" || item.trim() === "");
  if (odd === undefined && !items.includes(undefined)) return "a list";
  return `a list that holds ${Array.isArray(odd) ? "a list" : kindOf(odd)}`;
}

/** Like {@link kindOf}, for text from the environment, where a number is text. */
export function kindOfText(text: string): string {
  return /^-?\d+(?:\.\d+)?$/.test(text) ? kindOf(Number(text)) : kindOf(text);
}

/**
 * Returns the value for a message: quoted, shortened, on one line, without control characters, and
 * without the user info of a URL, which may contain a password. Empty for a value without a short
 * form.
 */
export function quoted(value: unknown): string {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (Array.isArray(value))
    return quoted(
      value
        .slice(0, READ_ITEMS)
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
 * Removes everything between the scheme and the last `@`. A refused value is often not a valid URL:
 * its password is not encoded (`https://ada:pa/ss@…`), or its slashes are missing.
 */
function withoutUserInfo(value: string): string {
  const at = value.lastIndexOf("@");
  if (at < 0) return value;
  const scheme =
    /^\s*(?:[a-z][a-z0-9+.-]*:)?\/{0,2}/i.exec(value.slice(0, Math.min(at, SHOWN_LENGTH)))?.[0] ??
    "";
  return `${scheme}***${value.slice(at)}`;
}
