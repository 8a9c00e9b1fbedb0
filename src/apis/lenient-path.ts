/** A path as an API could read it, whatever it decodes. Pure. */

/** Percent signs that were encoded, once or more, before two hexadecimal digits. */
const NESTED = /%(?:25)+(?=[0-9a-f]{2})/gi;

/**
 * Returns the path in which each character is encoded once at the most, however often it was. As
 * unreserved characters may not be encoded, only `%25` can stand before two digits.
 */
export function flat(path: string): string {
  return path.replace(NESTED, "%");
}

/** Decodes a flat path, as UTF-8. */
export function decoded(path: string): string {
  if (!path.includes("%")) return path;
  const bytes = path.replace(/%([0-9a-f]{2})/gi, (_all, digits: string) =>
    String.fromCharCode(parseInt(digits, 16)),
  );
  return Buffer.from(bytes, "latin1").toString();
}

/** Text that looks like nothing else. */
const ASCII = /^[\x00-\x7f]*$/;

/**
 * Returns text with what some systems make of it: characters that only look like a slash, a
 * backslash, a dot or a letter become one, in NFKC and in the code pages of Windows, and what isn't
 * seen is dropped.
 */
export function plain(text: string): string {
  if (ASCII.test(text)) return text;
  return text
    .normalize("NFKC")
    .replace(/[\u2044\u2215\u29f8]/g, "/")
    .replace(/[\u2216\u29f5\u29f9\xa5\u20a9]/g, "\\")
    .replace(/[\x85\ufffd\p{Default_Ignorable_Code_Point}]/gu, "");
}

export function rawPath(target: string): string {
  const end = target.indexOf("?");
  return end === -1 ? target : target.slice(0, end);
}
