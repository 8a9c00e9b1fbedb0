import type { Registration } from "../ports/registration.js";

/**
 * Returns the registrations that a login may go to. One: the login goes to it. Several: the user
 * chooses one.
 *
 * @param preferred the key that the login, the route or the settings name; null if none does
 */
export function loginProviders<Own extends Registration>(
  registrations: readonly Own[],
  preferred: string | null,
): readonly Own[] {
  const named = registrations.filter(({ key }) => key === preferred);
  return named.length > 0 ? named : registrations;
}
