/**
 * Pages that have moved, by their old address without `.html`. Addresses on other sites and in
 * bookmarks still use it.
 *
 * @type {Readonly<Record<string, string>>}
 */
export const MOVED = {
  "about/glossary": "reference/glossary",
  "how-to/end-sessions": "how-to/signing-out",
  "how-to/providers": "providers/",
  "how-to/reverse-proxies": "deploy/proxies",
  "how-to/scaling": "how-to/sessions",
  "how-to/your-provider": "providers/",
};
