import { idpAuth, type NextIdpAuth } from "idpauth/next";
import type { ApplicationAuth, AdapterSetup } from "idpauth-conformance";
import { connection } from "next/server";
import { setup } from "./setup";

const made = new WeakMap<AdapterSetup, readonly NextIdpAuth[]>();

/**
 * Where an application writes `export const auth = idpAuth()`. As there, each of Next.js's bundles
 * evaluates it for itself, with option objects of its own.
 */
export function auths(of: AdapterSetup = setup()): readonly NextIdpAuth[] {
  const known = made.get(of) ?? of.mounts.map((options) => idpAuth({ ...options }));
  made.set(of, known);
  return known;
}

/**
 * Waits for a request, since there is no setup while Next.js builds; an application's own `auth` is
 * there at once.
 */
export async function firstAuth(): Promise<NextIdpAuth> {
  await connection();
  const [auth] = auths();
  if (auth === undefined) throw new Error("The setup has no mount.");
  return auth;
}

/** As the conformance suite calls them. `own`: as an application on Next.js has it. */
export function hostAuths(of?: AdapterSetup): readonly ApplicationAuth[] {
  return auths(of).map((auth): object => ({
    ...auth,
    own: auth,
  })) as readonly object[] as readonly ApplicationAuth[];
}
