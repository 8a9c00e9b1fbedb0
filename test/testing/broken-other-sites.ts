import { before, type BrokenApplication } from "./broken-adapters.js";

const area = "other sites";

const ownOrigin = before((request) => {
  request.headers["sec-fetch-site"] = "same-origin";
});

const unknownSite = before((request) => {
  delete request.headers["sec-fetch-site"];
});

/** Express applications with one mistake each, in what tells a request of another site. */
export const brokenOtherSites: readonly BrokenApplication[] = [
  {
    name: "has every login come from its own page",
    breaks: [area, "a login that a link of another site has started replaces"],
    ...ownOrigin,
  },
  {
    name: "drops Sec-Fetch-Site before the login",
    breaks: [area, "a login that the user has started"],
    ...unknownSite,
  },
  {
    name: "drops the cookie of a logout by another site",
    breaks: [area, "after a logout by a link of another site"],
    ...before(({ headers }) => {
      headers.cookie = headers.cookie?.replace(/[^ ]*signed-out=1/, "");
    }),
  },
  {
    name: "has every logout come from its own page",
    breaks: [area, "a logout that a link of another site"],
    ...ownOrigin,
  },
  {
    name: "drops Sec-Fetch-Site before the logout",
    breaks: [area, "a logout that the user has started"],
    ...unknownSite,
  },
];
