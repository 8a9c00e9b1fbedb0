// @ts-check
import { createHash, randomBytes } from "node:crypto";
import { DatabaseSync } from "node:sqlite";

// A member is identified by the customer, `iss` and `sub` together: two customers may use the same
// provider, and a provider of one customer may claim to have another one's users.
const TABLES = `
  pragma journal_mode = wal;
  pragma busy_timeout = 2000;
  create table if not exists customers (
    key text primary key,
    name text not null,
    setup_hash blob unique,
    issuer text,
    client_id text,
    client_secret blob,
    domain text,
    domain_proof text not null,
    is_domain_verified integer not null default 0,
    is_on integer not null default 0
  ) strict;
  create unique index if not exists one_customer_per_domain
    on customers (domain) where is_domain_verified;
  create table if not exists members (
    customer text not null references customers (key),
    iss text not null,
    sub text not null,
    name text not null,
    primary key (customer, iss, sub)
  ) strict;`;

/**
 * @typedef {object} Customer
 * @property {string} key the subdomain, so it isn't a secret, and never changes
 * @property {string} name
 * @property {string | null} issuer
 * @property {string | null} client_id
 * @property {Uint8Array | null} client_secret encrypted, see secrets.mjs
 * @property {string | null} domain of its users' email addresses, as ASCII
 * @property {string} domain_proof what the DNS record of the domain has to contain
 * @property {0 | 1} is_domain_verified
 * @property {0 | 1} is_on
 */

export class Customers {
  #db;

  /** @param {string} file */
  constructor(file) {
    this.#db = new DatabaseSync(file);
    this.#db.exec(TABLES);
  }

  /** @param {string} key */
  get(key) {
    return /** @type {Customer | undefined} */ (
      this.#row("select * from customers where key = ?", key)
    );
  }

  /** @param {string} domain lower case, ASCII */
  keyOfDomain(domain) {
    const sql = "select key from customers where domain = ? and is_domain_verified and is_on";
    return this.#row(sql, domain)?.["key"]?.toString();
  }

  /** Adds a customer. Returns the token of a link with which it can enter its settings. */
  add(/** @type {string} */ key, /** @type {string} */ name) {
    const token = randomBytes(32).toString("base64url");
    const proof = randomBytes(16).toString("base64url");
    this.#run(
      "insert into customers (key, name, setup_hash, domain_proof) values (?, ?, ?, ?)",
      ...[key, name, hash(token), proof],
    );
    return token;
  }

  /** @param {string} token of a link that `add` has created */
  keyOfSetup(token) {
    const sql = "select key from customers where setup_hash = ?";
    return this.#row(sql, hash(token))?.["key"]?.toString();
  }

  /** @param {string} key @param {{ issuer: string, clientId: string, secret: Uint8Array }} provider */
  saveProvider(key, { issuer, clientId, secret }) {
    const sql = "update customers set issuer = ?, client_id = ?, client_secret = ? where key = ?";
    this.#run(sql, issuer, clientId, secret, key);
  }

  /** @param {string} key @param {string} domain not verified yet */
  saveDomain(key, domain) {
    const sql = "update customers set domain = ?, is_domain_verified = 0 where key = ?";
    this.#run(sql, domain, key);
  }

  /** Returns false if another customer has verified this domain. */
  verifyDomain(/** @type {string} */ key, /** @type {string} */ domain) {
    const sql = `update or ignore customers set is_domain_verified = 1 where key = ? and domain = ?`;
    return this.#run(sql, key, domain).changes === 1;
  }

  /** Also ends the setup link: from now on, the customer's administrators sign in. */
  switchOn(/** @type {string} */ key) {
    this.#run("update customers set is_on = 1, setup_hash = null where key = ?", key);
  }

  /** Nothing but the setup link is deleted, so `switchOn` undoes it. */
  switchOff(/** @type {string} */ key) {
    this.#run("update customers set is_on = 0, setup_hash = null where key = ?", key);
  }

  /** @param {string} key @param {{ iss: string, sub: string }} subject @param {string} name */
  saveMember(key, { iss, sub }, name) {
    this.#run("insert or replace into members values (?, ?, ?, ?)", key, iss, sub, name);
  }

  /** @param {string} key */
  members(key) {
    const sql = "select name from members where customer = ? order by name";
    return this.#db
      .prepare(sql)
      .all(key)
      .map(({ name }) => String(name));
  }

  close() {
    this.#db.close();
  }

  #row(/** @type {string} */ sql, /** @type {import("node:sqlite").SQLInputValue[]} */ ...values) {
    return this.#db.prepare(sql).get(...values);
  }

  #run(/** @type {string} */ sql, /** @type {import("node:sqlite").SQLInputValue[]} */ ...values) {
    return this.#db.prepare(sql).run(...values);
  }
}

/** The database doesn't contain the tokens themselves. @param {string} token */
function hash(token) {
  return createHash("sha256").update(token).digest();
}
