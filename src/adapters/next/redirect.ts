/**
 * The error that `redirect` of next/navigation throws. A package cannot import that module: Node needs the file extension, with which
 * Next.js loads the browser's version. If the form of the error ever changes, the page ends in `error.tsx`, and still no user sees it
 * who is not signed in.
 */
class RedirectError extends Error {
  readonly digest: string;

  constructor(url: string) {
    super("NEXT_REDIRECT");
    this.digest = `NEXT_REDIRECT;replace;${url};307;`;
  }
}

/** Ends a server component or action with a redirect. */
export function redirect(url: string): never {
  throw new RedirectError(url);
}
