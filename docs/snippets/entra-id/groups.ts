import express from "express";

export const app = express();

const handler: RequestHandler = (_req, res) => void res.send("passed");

// #region groups
import type { Request, RequestHandler } from "express";
import { ApiTokenError, isOutage, ProviderUnavailableError } from "idpauth";
import { idpAuth } from "idpauth/express";

/** The object IDs of the groups that your code asks about. Only these are stored. */
const STAFF = "0760b6cf-170e-4a14-91b3-4b78e0739963";
const ADMINS = "9f4d2c1e-0b3a-4c5d-8e6f-7a8b9c0d1e2f";
const KNOWN = [STAFF, ADMINS] as const;
const GRAPH = "https://graph.microsoft.com/v1.0/";
const MAX_PAGES = 20;

interface AppData {
  /** From Graph. Null: not asked since the last sign-in or refresh. */
  groups: readonly string[] | null;
}
const forgetGroups = (data: Partial<AppData>): AppData => ({ ...data, groups: null });

const auth = idpAuth({
  apis: { graph: { url: GRAPH, scope: ["https://graph.microsoft.com/User.Read"] } },
  onSignIn: () => ({ data: forgetGroups }),
  onRefresh: () => forgetGroups,
});
auth.mount(app);

async function groupsOf(req: Request): Promise<readonly unknown[]> {
  const { claims, data } = await auth.requireSession(req);
  if (Array.isArray(claims["groups"])) return claims["groups"];
  const isOverage =
    claims["hasgroups"] === true || Object.hasOwn(Object(claims["_claim_names"]), "groups");
  if (!isOverage) return [];
  if (data.groups) return data.groups;
  const groups = await readGroups(req);
  await auth.updateData(req, (current) => ({ ...current, groups }));
  return groups;
}

/** Throws if it can't read all groups: "no groups" would pass a rule that excludes a group. */
async function readGroups(req: Request): Promise<string[]> {
  const signal = AbortSignal.timeout(10_000);
  const ids = new Set<unknown>();
  let path = "me/transitiveMemberOf?$select=id&$top=999";
  try {
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const response = await auth.fetchApi(req, "graph", path, { signal });
      if (!response.ok) throw new Error(`Microsoft Graph responded with ${response.status}.`);
      const { value, "@odata.nextLink": next } = Object(await response.json());
      if (!Array.isArray(value)) throw new Error("Microsoft Graph sent no list.");
      for (const object of value) ids.add(object?.id);
      if (next === undefined) return KNOWN.filter((id) => ids.has(id));
      if (!String(next).startsWith(GRAPH)) throw new Error("The next page is somewhere else.");
      path = String(next).slice(GRAPH.length);
    }
    throw new Error(`The user's groups have more than ${MAX_PAGES} pages.`);
  } catch (cause) {
    if (cause instanceof ApiTokenError || isOutage(cause)) throw cause;
    throw new ProviderUnavailableError("graph", { cause, retryAfter: 30 });
  }
}

const inGroup =
  (id: (typeof KNOWN)[number]): RequestHandler =>
  async (req, res, next) => {
    if ((await groupsOf(req)).includes(id)) next();
    else res.status(403).send("Your account isn't in the group that may use this page.");
  };

app.get("/reports", auth.idpRequired, inGroup(STAFF), handler);
app.use(auth.errorHandler); // responds with 503 if Graph or Entra ID is down
// #endregion
