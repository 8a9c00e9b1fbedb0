import { lookup as systemLookup, Resolver, type LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";

/** Milliseconds that a DNS server may take for the first try. It gets twice as long for the second. */
const TRY_MS = 1_500;

/** The queries of node:dns, which a test replaces. */
export type Queries = Pick<Resolver, "resolve4" | "resolve6">;

/** The code if no DNS server is configured, or none listens. */
const NO_SERVER = "ECONNREFUSED";

/** What queries fail with if the name has no such address. */
const NO_ADDRESS = ["ENOTFOUND", "ENODATA"];

/**
 * Returns a `lookup` that asks DNS itself. `lookup` of node:dns waits in threads of which a process
 * has few, so four names whose servers don't answer delay every other lookup of the application by
 * 20 seconds. It also reads the hosts file, and adds this machine's domains to a name.
 *
 * @param fallback resolves names where DNS can't be asked; default that of node:dns
 */
export function publicLookup(
  queries: Queries = new Resolver({ timeout: TRY_MS, tries: 2 }),
  fallback = systemLookup as LookupFunction,
): LookupFunction {
  return (hostname, options, done) => {
    const { family = 0 } = options;
    const isAsked = (version: 4 | 6) => ![4, 6].includes(Number(family)) || family === version;
    const asked: Promise<LookupAddress[]>[] = [
      ...(isAsked(4) ? [addresses(4, (take) => queries.resolve4(hostname, take))] : []),
      ...(isAsked(6) ? [addresses(6, (take) => queries.resolve6(hostname, take))] : []),
    ];
    void Promise.allSettled(asked).then((results) => {
      const found = results.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
      const codes = results.flatMap((one) =>
        one.status === "rejected" ? [String((one.reason as NodeJS.ErrnoException).code)] : [],
      );
      const [first] = found;
      if (first === undefined && codes.includes(NO_SERVER)) fallback(hostname, options, done);
      else if (first === undefined) done(failure(codes), "");
      else if (options.all === true) done(null, found);
      else done(null, first.address, first.family);
    });
  };
}

type Take = (error: NodeJS.ErrnoException | null, found: string[]) => void;

function addresses(family: 4 | 6, query: (take: Take) => void): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) => {
    query((error, found) => {
      if (error === null) resolve(found.map((address) => ({ address, family })));
      else reject(error);
    });
  });
}

/** The error with the code that `lookup` of node:dns would have, which other code knows. */
function failure(codes: readonly string[]): NodeJS.ErrnoException {
  const isKnown = codes.every((code) => NO_ADDRESS.includes(code));
  const code = isKnown ? "ENOTFOUND" : "EAI_AGAIN";
  return Object.assign(new Error(`The name can't be resolved (${code}).`), { code });
}
