/**
 * Whether a link may lead to an address: a path, an http(s) URL, or empty for the current address. Escaping does not stop `javascript:`.
 * `//x` and `/\x` lead to other hosts. So do a tab or a line break between the two slashes, since browsers remove them.
 */
export function isSafeAddress(href: string): boolean {
  return href === "" || (!/[\s\\]/.test(href) && (/^\/(?!\/)/.test(href) || /^https?:\/\//i.test(href)));
}
