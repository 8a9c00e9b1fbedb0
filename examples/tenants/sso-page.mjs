// @ts-check
// The page "Single sign-on", on which an administrator enters the customer's provider.
import { domainToASCII } from "node:url";
import express from "express";
import { ssoForms } from "./sso-forms.mjs";

/** @typedef {import("./customers.mjs").Customer} Customer */

const DOMAIN = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/;

/**
 * @param {object} parts
 * @param {import("idpauth/express").ExpressIdpAuth} parts.auth
 * @param {import("./customers.mjs").Customers} parts.customers
 * @param {(key: string) => string} parts.originOf a customer
 * @param {import("./secrets.mjs").Secrets} parts.secrets
 * @param {(name: string) => Promise<string[][]>} parts.resolveTxt
 * @returns routes for the customer in `res.locals.customer`
 */
export function ssoPage({ auth, customers, originOf, secrets, resolveTxt }) {
  const routes = express.Router().use(express.urlencoded({ limit: "16kb" }));
  routes.get("/", (req, res) => {
    show(req, res);
  });

  // What doesn't work isn't saved, so an administrator can't lock the customer out by mistake. The
  // secret has to be entered each time: otherwise, a new issuer would get the old one's secret.
  onSubmit("/provider", async ({ key }, { issuer, clientId, clientSecret }) => {
    const options = { issuer, clientId, clientSecret };
    const findings = await auth.checkProvider(options, { key, origin: originOf(key) });
    const errors = findings.filter(({ severity }) => severity === "error");
    if (errors.length > 0) return errors.map(({ message, remedy }) => `${message} ${remedy}`);
    customers.saveProvider(key, { issuer, clientId, secret: secrets.encrypt(clientSecret, key) });
    return ["The provider works. Its settings are saved."];
  });

  onSubmit("/domain", ({ key }, fields) => {
    const domain = domainToASCII(fields.domain); // in lower case, too
    if (!DOMAIN.test(domain)) return ["Enter a domain, such as example.com."];
    customers.saveDomain(key, domain);
    return ["Now add the DNS record."];
  });

  // Without this proof, a customer could claim another one's addresses, or those of gmail.com.
  onSubmit("/verify", async ({ key, domain, domain_proof }) => {
    if (domain === null) return ["Enter a domain."];
    const records = await resolveTxt(`_idpauth-example.${domain}`).catch(() => []);
    if (!records.some((parts) => parts.join("") === domain_proof))
      return ["The record isn't there yet. DNS changes can take an hour."];
    const isVerified = customers.verifyDomain(key, domain);
    return [isVerified ? "The domain is verified." : "Another customer has verified this domain."];
  });

  onSubmit("/on", ({ key, issuer }) => {
    if (issuer === null) return ["Enter the provider first."];
    customers.switchOn(key);
    return ["Single sign-on is on."];
  });

  return routes;

  /**
   * @param {string} path
   * @param {(customer: Customer, form: Record<"issuer" | "clientId" | "clientSecret" | "domain", string>) => string[] | Promise<string[]>} work
   *   returns what the page says then
   */
  function onSubmit(path, work) {
    routes.post(path, async (req, res) => {
      const notices = await work(customerIn(res), fieldsOf(req));
      auth.forgetProvider(customerIn(res).key); // what this process remembers is out of date
      show(req, res, notices);
    });
  }

  /**
   * @param {express.Request} req
   * @param {express.Response} res
   * @param {string[]} [notices]
   */
  function show({ baseUrl }, res, notices = []) {
    const customer = customerIn(res);
    const { key } = customer;
    const addresses = auth.providerAddresses(key, { origin: originOf(key) });
    res.send(ssoForms({ customer, baseUrl, notices, ...addresses }));
  }

  /** @param {express.Response} res */
  function customerIn(res) {
    const customer = customers.get(String(res.locals["customer"]));
    if (customer === undefined) throw new Error("The customer was deleted.");
    return customer;
  }
}

/** Returns the fields of a form; what it doesn't contain is empty. @param {express.Request} req */
function fieldsOf({ body }) {
  const text = (/** @type {string} */ name) => String(body?.[name] ?? "").trim();
  return {
    issuer: text("issuer"),
    clientId: text("clientId"),
    clientSecret: text("clientSecret"),
    domain: text("domain"),
  };
}
