/**
 * A part of a menu, with the paths of its pages in docs/ without `.md`. The labels are the titles
 * of the pages.
 *
 * @typedef {{ text: string, pages: readonly (string | Group)[] }} Group
 */

/**
 * A page or a group in a section's menu, as VitePress reads it.
 *
 * @typedef {{ text: string, link: string }} PageItem
 * @typedef {{ text: string, items: readonly Item[] }} GroupItem
 * @typedef {PageItem | GroupItem} Item
 */

/**
 * A page that is generated from the types of an entry of the package, such as `express` for
 * `idpauth/express`.
 *
 * @typedef {{ entry: string, page: string }} ReferencePage
 */

/** A page of this name stands for the pages that are generated from the types. */
const REFERENCE = "api";

/**
 * The tree of the site. Each page stands in it or in {@link APART} once, and the first one of a
 * section is its start page. Each section is an entry of the menu at the top, and has a menu of its
 * own beside its pages.
 *
 * @type {readonly Group[]}
 */
export const SECTIONS = [
  {
    text: "Start",
    pages: [
      "start/index",
      {
        text: "Your framework",
        pages: [
          "start/express",
          "start/fastify",
          "start/hono",
          "start/koa-and-node",
          "start/nextjs",
          "start/nestjs",
          "start/fetch",
          "start/single-page-application",
        ],
      },
      { text: "Tutorials", pages: ["tutorial/staff-only", "tutorial/first-test"] },
    ],
  },
  {
    text: "Guides",
    pages: [
      "how-to/index",
      {
        text: "In your framework",
        pages: [
          "how-to/mounting",
          "how-to/guarding",
          "how-to/nextjs",
          "how-to/nestjs",
          "how-to/fetch-frameworks",
          "how-to/single-page-applications",
          "how-to/react-vue-svelte",
          "how-to/http-clients",
          "how-to/html-libraries",
        ],
      },
      {
        text: "Users and permissions",
        pages: [
          "how-to/users-and-claims",
          "how-to/authorization",
          "how-to/user-table",
          "how-to/step-up",
          "how-to/login-parameters",
          "how-to/csrf",
        ],
      },
      {
        text: "Sessions and signing out",
        pages: [
          "how-to/sessions",
          "how-to/signing-out",
          "how-to/leavers",
          "how-to/live-connections",
        ],
      },
      {
        text: "APIs and services",
        pages: [
          "how-to/call-an-api",
          "how-to/proxy",
          "how-to/write-an-api",
          "how-to/several-services",
          "how-to/same-settings",
          "about/other-callers",
        ],
      },
      {
        text: "Test, adapt and extend",
        pages: ["how-to/testing", "how-to/your-pages", "how-to/stores", "how-to/adapters"],
      },
    ],
  },
  {
    text: "Providers",
    pages: [
      "providers/index",
      {
        text: "Your provider",
        pages: [
          "providers/google",
          "providers/entra-id",
          "providers/keycloak",
          "providers/auth0",
          "providers/okta",
          "providers/cognito",
          "providers/apple",
          "providers/self-hosted",
          "providers/generic",
        ],
      },
      {
        text: "More than one provider",
        pages: [
          "how-to/several-providers",
          "how-to/tenants",
          "how-to/several-components",
          "how-to/many-origins",
        ],
      },
      {
        text: "Keys and bound tokens",
        pages: ["how-to/keys", "how-to/pushed-requests", "how-to/high-assurance"],
      },
    ],
  },
  {
    text: "Deploy",
    pages: [
      "deploy/index",
      "how-to/production",
      {
        text: "Platforms and proxies",
        pages: ["deploy/containers", "deploy/serverless", "deploy/proxies", "deploy/forward-auth"],
      },
      {
        text: "Operate",
        pages: ["how-to/upgrades-and-keys", "deploy/sizing", "deploy/store-operation"],
      },
      {
        text: "Monitor",
        pages: ["how-to/operations", "how-to/telemetry", "how-to/access-logs", "how-to/audit-log"],
      },
      {
        text: "Find errors",
        pages: ["how-to/night", "how-to/troubleshooting", "reference/check-live"],
      },
    ],
  },
  {
    text: "Reference",
    pages: [
      "reference/index",
      {
        text: "Settings",
        pages: [
          "reference/settings",
          "reference/settings-sessions",
          "reference/settings-sign-out",
          "reference/settings-provider",
          "reference/settings-login",
          "reference/settings-application",
        ],
      },
      {
        text: "Codes, events and versions",
        pages: [
          "reference/errors",
          "reference/provider-responses",
          "reference/events",
          "reference/personal-data",
          "reference/compatibility",
        ],
      },
      {
        text: "On the server",
        pages: [
          "reference/accessors",
          "reference/endpoints",
          "reference/page-texts",
          "reference/databases",
          "reference/session-store",
          "reference/apis",
          "reference/proxy",
        ],
      },
      { text: "In the browser", pages: ["reference/client", "reference/react"] },
      { text: "Development and tests", pages: ["reference/provider", "reference/testing"] },
      "reference/glossary",
      REFERENCE,
    ],
  },
  {
    text: "Migrate",
    pages: [
      "migrate/index",
      "migrate/express-openid-connect",
      "migrate/passport",
      "migrate/auth-js",
      "migrate/better-auth",
      "migrate/oauth2-proxy",
    ],
  },
  {
    text: "Trust",
    pages: [
      "about/index",
      {
        text: "Decide",
        pages: [
          "about/compare",
          "about/instead-of-a-service",
          "about/not-supported",
          "about/questions",
          "about/leaving",
          "about/roadmap",
        ],
      },
      {
        text: "Guarantees",
        pages: ["explanation/guarantees", "explanation/failures", "explanation/performance"],
      },
      {
        text: "Security and standards",
        pages: [
          "explanation/security",
          "reference/threat-model",
          "explanation/backend-for-frontend",
          "about/rfc-10017",
          "about/standards",
          "about/browsers",
          "about/security-policy",
        ],
      },
      {
        text: "The project",
        pages: ["about/project", "about/support", "about/changelog"],
      },
    ],
  },
];

/**
 * Pages for contributors and reviewers. They have a menu of their own beside them, and a link on a
 * page for users leads to each group of them. The menu at the top, the search and the files of llms/
 * don't contain them.
 *
 * @type {Group}
 */
export const APART = {
  text: "How idpauth is built and tested",
  pages: [
    "contributing/index",
    "contributing/architecture",
    "contributing/grammar",
    "contributing/changes",
    "contributing/tests",
    "contributing/commands",
    "contributing/pages",
    "contributing/releasing",
    "explanation/decisions",
    "reference/specification-names",
    "about/evidence",
  ],
};

const NAMES_APART = new Set(pagesOf(APART.pages));

/**
 * @param {string} page its path in docs/, such as "contributing/tests.md"
 * @returns {boolean} whether it is one of {@link APART}
 */
export function isApart(page) {
  return NAMES_APART.has(page.replace(/\.md$/, ""));
}

/**
 * @param {readonly (string | Group)[]} parts of a section
 * @returns {string[]} the pages in them and in their groups; `api` stands for those of the types
 */
export function pagesOf(parts) {
  return parts.flatMap((part) => (typeof part === "string" ? [part] : pagesOf(part.pages)));
}

/**
 * @param {(page: string) => string} titleOf
 * @param {readonly ReferencePage[]} reference
 * @param {readonly Group[]} [sections]
 * @returns {GroupItem[]} the sections, with their pages' titles
 */
export function withTitles(titleOf, reference, sections = SECTIONS) {
  /** @returns {Item} */
  const itemOf = (/** @type {string | Group} */ part) => {
    if (part === REFERENCE) return referenceMenu(titleOf, reference);
    return typeof part === "string"
      ? { text: titleOf(part), link: linkOf(part) }
      : { text: part.text, items: part.pages.map(itemOf) };
  };
  return sections.map(({ text, pages }) => ({ text, items: pages.map(itemOf) }));
}

/**
 * @param {(page: string) => string} titleOf
 * @param {readonly ReferencePage[]} pages
 * @returns {Item} a group for each entry of the package that has several pages
 */
function referenceMenu(titleOf, pages) {
  const entries = [...new Set(pages.map(({ entry }) => entry))];
  const itemOf = (/** @type {string} */ page) => ({ text: titleOf(page), link: linkOf(page) });
  return {
    text: "API, from the types",
    items: [
      itemOf("api/index"),
      ...entries.map((entry) => {
        const own = pages.filter((one) => one.entry === entry);
        const [first, ...others] = own.map(({ page }) => itemOf(`api/${page}`));
        return first !== undefined && others.length === 0
          ? first
          : { text: entry, items: own.map(({ page }) => itemOf(`api/${page}`)) };
      }),
    ],
  };
}

/**
 * @param {readonly GroupItem[]} sections
 * @returns the menu at the top. On each page, it marks the page's section
 */
export function menuOf(sections) {
  return sections.map(({ text, items }) => {
    const links = linksOf(items);
    return {
      text,
      link: links[0] ?? "/",
      activeMatch: `^(?:${links.map((link) => link.replaceAll(".", "\\.")).join("|")})$`,
    };
  });
}

/**
 * VitePress looks for the page's address in the keys, so each page has its own: the pages of a
 * section are in several folders. The group with the page is open, also without JavaScript.
 *
 * @param {readonly GroupItem[]} sections
 * @returns {Record<string, object[]>}
 */
export function sidebarsOf(sections) {
  const opened = (/** @type {readonly Item[]} */ items, /** @type {string} */ current) =>
    items.map((item) => {
      if (!("items" in item)) return item;
      /** @type {object} */
      const group = {
        ...item,
        items: opened(item.items, current),
        collapsed: !linksOf(item.items).includes(current),
      };
      return group;
    });
  return Object.fromEntries(
    sections.flatMap(({ items }) =>
      linksOf(items).map((link) => [`${link.replace(/\/$/, "/index")}.md`, opened(items, link)]),
    ),
  );
}

/**
 * @param {readonly Item[]} items
 * @returns {string[]}
 */
export function linksOf(items) {
  return items.flatMap((item) => ("items" in item ? linksOf(item.items) : [item.link]));
}

/** @param {string} page */
function linkOf(page) {
  return `/${page.replace(/(^|\/)index$/, "$1")}`;
}
