import { abortRequirements } from "./aborts.js";
import { accessorEffectRequirements } from "./accessor-effects.js";
import { accessorRequirements } from "./accessors.js";
import { apiRequirements } from "./api-proxy.js";
import { apiStreamRequirements } from "./api-streams.js";
import { applicationDataRequirements } from "./application-data.js";
import { authorizationRequestRequirements } from "./authorization-request.js";
import { badInputRequirements } from "./bad-input.js";
import { bodyRequirements } from "./bodies.js";
import { guardedResponseRequirements } from "./cache-headers.js";
import { callbackRequirements } from "./callback.js";
import { cookieRequirements } from "./cookie.js";
import { csrfRequirements } from "./csrf.js";
import { errorRequirements } from "./errors.js";
import { eventStreamRequirements } from "./event-streams.js";
import { eventsRequirements } from "./events.js";
import { guardResponseRequirements } from "./guard-responses.js";
import { guardRuleRequirements } from "./guard-rules.js";
import { guardRequirements } from "./guard.js";
import { httpRequirements } from "./http.js";
import { indexPageRequirements } from "./index-page.js";
import { loginParameterRequirements } from "./login-parameters.js";
import { loginRequirements } from "./login.js";
import { logoutRequirements } from "./logout.js";
import { methodRequirements } from "./methods.js";
import { mountRequirements } from "./mounts.js";
import { originRequirements } from "./origins.js";
import { otherSiteRequirements } from "./other-sites.js";
import { pathPrefixRequirements } from "./path-prefix.js";
import { pendingLoginRequirements } from "./pending-logins.js";
import { probeRequirements } from "./probe.js";
import { refreshRequirements } from "./refresh.js";
import { requireSessionRequirements } from "./require-session.js";
import type { AdapterRequirement } from "./requirement.js";
import { severalProviderRequirements } from "./several-providers.js";
import { signingOutRequirements } from "./signing-out.js";
import { standInRequirements } from "./stand-ins.js";
import { storeOutageRequirements } from "./store-outage.js";
import { subPathRequirements } from "./sub-path.js";
import { proxyRequirements } from "./trusted-proxy.js";
import { tripRequirements } from "./whole-trip.js";

/** All requirements of an adapter, in the order of a report. */
export const adapterRequirements: readonly AdapterRequirement[] = [
  ...tripRequirements,
  ...loginRequirements,
  ...authorizationRequestRequirements,
  ...loginParameterRequirements,
  ...originRequirements,
  ...pendingLoginRequirements,
  ...callbackRequirements,
  ...cookieRequirements,
  ...probeRequirements,
  ...refreshRequirements,
  ...logoutRequirements,
  ...signingOutRequirements,
  ...otherSiteRequirements,
  ...eventsRequirements,
  ...indexPageRequirements,
  ...httpRequirements,
  ...methodRequirements,
  ...storeOutageRequirements,
  ...guardRequirements,
  ...guardResponseRequirements,
  ...guardRuleRequirements,
  ...requireSessionRequirements,
  ...guardedResponseRequirements,
  ...csrfRequirements,
  ...accessorRequirements,
  ...accessorEffectRequirements,
  ...applicationDataRequirements,
  ...errorRequirements,
  ...bodyRequirements,
  ...abortRequirements,
  ...mountRequirements,
  ...severalProviderRequirements,
  ...apiRequirements,
  ...apiStreamRequirements,
  ...eventStreamRequirements,
  ...standInRequirements,
  ...subPathRequirements,
  ...proxyRequirements,
  ...pathPrefixRequirements,
  ...badInputRequirements,
];
