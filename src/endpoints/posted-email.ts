/** What the posted work email address of a login leads to. Loaded by its first use. */
import type { SessionRequest } from "../access/session-request.js";
import { isOutage } from "../errors.js";
import { functionThrew } from "../events/log-lines.js";
import { redirect, type Reply } from "../http/reply.js";
import type { Slots } from "../work/slots.js";
import type { EndpointContext, EndpointSource } from "./context.js";
import { loginInitiator } from "./new-login.js";
import {
  findOrganization,
  loginQuery,
  organizationFor,
  organizationSlots,
} from "./organization.js";
import { keptParameters } from "./provider-chooser.js";

interface PostedEmail {
  readonly email: string;
  /** All fields of the login. */
  readonly fields: URLSearchParams;
  readonly findByEmailDomain: NonNullable<EndpointSource["findByEmailDomain"]>;
}

const slotsOf = new WeakMap<EndpointSource["inherited"], Slots>();

/**
 * 303 to the login at the provider of the address's organization, or the page that asks again.
 *
 * @throws ProviderUnavailableError `findByEmailDomain` fails
 */
export async function answerToEmail(
  opened: SessionRequest,
  context: EndpointContext,
  { email, fields, findByEmailDomain }: PostedEmail,
): Promise<Reply> {
  const { settings, clock, events, ownForms, registrations } = context;
  const inherited = context.source?.inherited ?? {};
  const slots = slotsOf.get(inherited) ?? organizationSlots(clock);
  slotsOf.set(inherited, slots);
  const found = await findOrganization(email, { findByEmailDomain, slots, clock }).catch(
    (error: unknown) => {
      const cause = isOutage(error) ? error.cause : error;
      if (cause !== undefined) events.log(functionThrew("providerSource.findByEmailDomain", cause));
      events.failed("login", error);
      throw error;
    },
  );
  if (found.kind === "found") {
    const query = ownForms.withProof(opened, loginQuery(fields, found)).toString();
    return redirect(`${settings.publicPath}login/?${query}`, 303);
  }
  const passed = Object.fromEntries(
    settings.loginParams.flatMap((name) => {
      const value = fields.get(name);
      return value === null ? [] : [[name, value]];
    }),
  );
  const initiator = loginInitiator(opened, fields, context);
  return organizationFor(opened, context, {
    kept: keptParameters(fields, { passed, initiator }),
    providers: registrations,
    isJson: fields.get("response") === "json",
    unknown: email,
  });
}
