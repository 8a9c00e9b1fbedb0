/** The forms of `--store`. The value may hold a password, so no message repeats it. */

export function isStoreAddress(value: string): boolean {
  return /^(?:rediss?|postgres(?:ql)?):\/\/./.test(value) || /^sqlite:./.test(value) || /^env:[A-Za-z_]\w*$/.test(value) || isModule(value);
}

/** A path of a JavaScript module, which has no scheme; one letter before the colon is a drive. */
export function isModule(value: string): boolean {
  return /\.[cm]?[jt]s$/.test(value) && !/^[a-z][a-z0-9+.-]+:/i.test(value);
}
