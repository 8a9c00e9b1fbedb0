/**
 * What `redirect` of next/navigation throws. That module cannot be named by a package: with its extension, which Node asks
 * for, Next.js takes its browser side; without, Node finds nothing. Should the form ever change, the page ends in
 * `error.tsx`: nobody who is not signed in sees it.
 */
class RedirectError extends Error {
  readonly digest: string;

  constructor(url: string) {
    super("NEXT_REDIRECT");
    this.digest = `NEXT_REDIRECT;replace;${url};307;`;
  }
}

/** Ends a server component or action: Next.js sends the visitor elsewhere. */
export function redirect(url: string): never {
  throw new RedirectError(url);
}
