// @ts-check
import express from "express";
import { hasClaim, providerSource } from "idpauth";
import { idpAuth } from "idpauth/express";
import { escapeHtml, HEADERS, page } from "./page.mjs";
import { ssoPage } from "./sso-page.mjs";

/**
 * @param {object} parts
 * @param {string} parts.origin of the application. Each customer is at a subdomain of it.
 * @param {import("./customers.mjs").Customers} parts.customers
 * @param {import("./secrets.mjs").Secrets} parts.secrets
 * @param {(name: string) => Promise<string[][]>} parts.resolveTxt of node:dns
 * @param {readonly string[]} parts.internalHosts for development: providers here may use http and
 *   private addresses. In production, leave it empty, or customers can make this server call yours.
 * @param {Pick<import("idpauth").IdpAuthOptions, "env" | "store" | "clock">} options
 */
export function createApp({ origin, customers, secrets, resolveTxt, internalHosts }, options) {
  const app = express();
  // Which customer a request is for: the subdomain is the key. The application's own host has none.
  app.set("subdomain offset", new URL(origin).hostname.split(".").length);
  const customerOf = (/** @type {express.Request} */ req) => req.subdomains[0];
  const originOf = (/** @type {string} */ key) => origin.replace("://", `://${key}.`);

  const auth = idpAuth({
    ...options,
    baseUrl: [origin, originOf("*")],
    providers: providerSource({
      find: (key) => providerOf(customers.get(key)),
      findByEmailDomain: (domain) => customers.keyOfDomain(domain),
      maxAge: 10, // seconds: how soon each process follows `npm run customers`; SQLite is quick
      internalHosts,
    }),
    backchannelLogout: true,
    loginParams: ["login_hint"], // the redirect below comes from another site
    authFinalRedirectUrl: "/",
    onSignIn({ claims, user }) {
      customers.saveMember(user.provider ?? "", claims, user.name ?? user.email ?? claims.sub);
    },
  });

  // Each origin has a session of its own, so a login continues at its customer's origin, wherever
  // the user has entered the email address.
  app.get("/idpauth/login/", (req, res, next) => {
    const key = req.query["provider"];
    const customer = typeof key === "string" ? customers.get(key) : undefined;
    if (customer === undefined || customer.key === customerOf(req)) next();
    else res.redirect(`${originOf(customer.key)}${req.originalUrl}`);
  });
  auth.mount(app); // /idpauth/login/ asks for the email address
  app.use(auth.csrf);
  app.use((_req, res, next) => {
    res.set(HEADERS);
    next();
  });

  app.get("/", (req, res, next) => {
    if (customerOf(req) !== undefined) next();
    else res.send(page("Example", '<p><a href="/idpauth/login/">Sign in</a></p>'));
  });

  // Before single sign-on is on, nobody can sign in there, so `npm run customers -- add` creates a
  // link. It ends when single sign-on is switched on.
  const sso = ssoPage({ auth, customers, originOf, secrets, resolveTxt });
  app.use("/setup/:token", (req, res, next) => {
    const key = customers.keyOfSetup(req.params.token);
    res.locals["customer"] = key; // for the page
    if (key !== undefined && key === customerOf(req)) sso(req, res, next);
    else res.status(404).send(page("This link has ended", ""));
  });

  // From here on, only the customer's own users pass. Others get a login at its provider, and an
  // unknown customer is 404.
  app.use(auth.idpRequiredWith({ provider: customerOf }), (req, res, next) => {
    res.locals["customer"] = customerOf(req);
    next();
  });

  app.get("/", async (req, res) => {
    const { user } = await auth.requireSession(req);
    const key = res.locals["customer"];
    const members = customers.members(key).map((name) => `<li>${escapeHtml(name)}</li>`);
    res.send(
      page(
        customers.get(key)?.name ?? key,
        `<p>Hello ${escapeHtml(user.name ?? "")}. Members who have signed in:</p><ul>${members.join("")}</ul>
<p><a href="/sso/">Single sign-on</a> <a href="/idpauth/logout/">Sign out</a></p>`,
      ),
    );
  });

  // The customer's own directory says who administers the customer. The rule names the customer
  // again, because an administrator of one is a stranger to the others.
  const administrators = { provider: customerOf, allow: hasClaim("groups", "admin") };
  app.use("/sso", auth.idpRequiredWith(administrators), sso);

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
