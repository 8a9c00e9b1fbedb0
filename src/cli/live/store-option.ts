// The forms of `--store`. The value may contain a password, so no message repeats it.

export function isStoreAddress(value: string): boolean {
  return (
    /^(?:rediss?|postgres(?:ql)?):\/\/./.test(value) ||
    /^sqlite:./.test(value) ||
    /^env:[A-Za-z_]\w*$/.test(value) ||
    isModule(value)
  );
}

/**
 * Whether the value is the path of a JavaScript module. One letter before a colon is a Windows
 * drive, not a scheme.
 */
export function isModule(value: string): boolean {
  return /\.[cm]?[jt]s$/.test(value) && !/^[a-z][a-z0-9+.-]+:/i.test(value);
}
