/**
 * Pages that have moved, by their old address without `.html`. Addresses on other sites and in
 * bookmarks still use it.
 *
 * @type {Readonly<Record<string, string>>}
 */
export const MOVED = {
  "about/csrf-cases": "how-to/csrf#owasps-csrf-cases",
  "api/functions": "reference/accessors",
  "api/testing-api-and-clock": "api/testing",
  "api/testing-live-stores": "api/testing",
  "api/testing-provider": "api/testing",
  "about/glossary": "reference/glossary",
  "evidence/adapters": "about/evidence#frameworks",
  "evidence/browsers": "about/evidence#browsers",
  "evidence/interop": "about/evidence#providers",
  "evidence/mutation": "about/evidence#mutation-testing",
  "evidence/peers": "about/evidence#the-race",
  "evidence/performance": "about/evidence#performance",
  "evidence/runtimes": "about/evidence#runtimes",
  "evidence/scaling": "about/evidence#stores-and-processes",
  "evidence/security": "about/evidence#security-requirements",
  "evidence/soak": "about/evidence#load-with-faults",
  "how-to/end-sessions": "how-to/signing-out",
  "how-to/providers": "providers/",
  "how-to/reverse-proxies": "deploy/proxies",
  "how-to/scaling": "how-to/sessions",
  "how-to/your-provider": "providers/",
  "reference/telemetry": "how-to/telemetry#spans",
};
