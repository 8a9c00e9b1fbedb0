// @ts-check
import express from "express";
import { hasClaim, providerSource } from "idpauth";
import { idpAuth } from "idpauth/express";
import { escapeHtml, HEADERS, page } from "./page.mjs";
import { ssoPage } from "./sso-page.mjs";

/**
 * @param {object} parts
 * @param {import("./customers.mjs").Customers} parts.customers
 * @param {import("./secrets.mjs").Secrets} parts.secrets
 * @param {(name: string) => Promise<string[][]>} parts.resolveTxt of node:dns
 * @param {readonly string[]} parts.internalHosts for development: providers here may use http and
 *   private addresses. In production, leave it empty, or customers can make this server call yours.
 * @param {Pick<import("idpauth").IdpAuthOptions, "env" | "store" | "clock">} options
 */
export function createApp({ customers, secrets, resolveTxt, internalHosts }, options) {
  const app = express();
  const auth = idpAuth({
    ...options,
    providers: providerSource({
      find: (key) => providerOf(customers.get(key)),
      findByEmailDomain: (domain) => customers.keyOfDomain(domain),
      maxAge: 10, // seconds: how soon each process follows `npm run customers`; SQLite is quick
      internalHosts,
    }),
    backchannelLogout: true,
    authFinalRedirectUrl: "/",
    authLogoutRedirectUrl: "/",
    onSignIn({ claims, user }) {
      customers.saveMember(user.provider ?? "", claims, user.name ?? user.email ?? claims.sub);
    },
  });
  auth.mount(app); // /idpauth/login/ asks for the email address
  app.use(auth.csrf);
  app.use((_req, res, next) => {
    res.set(HEADERS);
    next();
  });

  app.get("/", async (req, res) => {
    const session = await auth.getSession(req);
    if (session !== null) res.redirect(`/t/${session.provider}/`);
    else res.send(page("Example", '<p><a href="/idpauth/login/">Sign in</a></p>'));
  });

  // Which customer a request is for. With a subdomain for each, return `req.hostname.split(".")[0]`,
  // and write "/" instead of "/t/:org".
  const customerOf = (/** @type {express.Request} */ req) => String(req.params["org"]);

  // A user of another customer doesn't pass, and gets a login at this one's provider. An unknown
  // customer is 404.
  app.use("/t/:org", auth.idpRequiredWith({ provider: customerOf }), (req, res, next) => {
    res.locals["customer"] = customerOf(req); // for the routes below
    next();
  });

  app.get("/t/:org/", async (req, res) => {
    const { user } = await auth.requireSession(req);
    const key = customerOf(req);
    const members = customers.members(key).map((name) => `<li>${escapeHtml(name)}</li>`);
    res.send(
      page(
        customers.get(key)?.name ?? key,
        `<p>Hello ${escapeHtml(user.name ?? "")}. Members who have signed in:</p><ul>${members.join("")}</ul>
<p><a href="/t/${key}/sso/">Single sign-on</a> <a href="/idpauth/logout/">Sign out</a></p>`,
      ),
    );
  });

  const sso = ssoPage({ auth, customers, secrets, resolveTxt });
  // The customer's own directory says who administers the customer. The rule names the customer
  // again, because an administrator of one is a stranger to the others.
  const administrators = { provider: customerOf, allow: hasClaim("groups", "admin") };
  app.use("/t/:org/sso", auth.idpRequiredWith(administrators), sso);

  // Before single sign-on is on, nobody can sign in there, so `npm run customers -- add` creates a
  // link. It ends when single sign-on is switched on.
  app.use("/setup/:token", (req, res, next) => {
    res.locals["customer"] = customers.keyOfSetup(req.params.token);
    if (res.locals["customer"] !== undefined) sso(req, res, next);
    else res.status(404).send(page("This link has ended", ""));
  });

  app.use(auth.errorHandler);
  return { app, auth };

  /** @param {import("./customers.mjs").Customer | undefined} customer */
  function providerOf(customer) {
    if (!customer?.is_on || !customer.issuer || !customer.client_id || !customer.client_secret)
      return undefined;
    return {
      name: customer.name,
      issuer: customer.issuer,
      clientId: customer.client_id,
      // If it throws, idpauth treats it as an outage of this customer's provider: nobody is signed out.
      clientSecret: secrets.decrypt(customer.client_secret, customer.key),
      // An address outside these domains isn't verified, whatever the provider says.
      emailDomains: customer.is_domain_verified && customer.domain ? [customer.domain] : [],
    };
  }
}
