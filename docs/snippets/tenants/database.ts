/** A row of the application's table of customers. */
export interface Customer {
  readonly key: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly encryptedSecret: string;
  /** In lower case and in ASCII, each verified by a DNS record. */
  readonly domains: readonly string[];
}

const rows = new Map<string, Customer>();

/** In memory, in place of a database. */
export const customers = {
  find: (key: string) => Promise.resolve(rows.get(key)),
  findByDomain: (domain: string) =>
    Promise.resolve([...rows.values()].find(({ domains }) => domains.includes(domain))),
  save(customer: Omit<Customer, "domains"> & Partial<Customer>) {
    const domains = rows.get(customer.key)?.domains ?? [];
    rows.set(customer.key, { domains, ...customer });
    return Promise.resolve();
  },
  async provider(key: string) {
    const customer = await customers.find(key);
    if (customer === undefined) return undefined;
    const { issuer, clientId, encryptedSecret } = customer;
    return { issuer, clientId, clientSecret: decrypt(encryptedSecret) };
  },
};

/** In place of a cipher whose key is in the application's secret manager. */
export const encrypt = (secret: string): string => Buffer.from(secret).toString("base64url");
export const decrypt = (encrypted: string): string =>
  Buffer.from(encrypted, "base64url").toString();
