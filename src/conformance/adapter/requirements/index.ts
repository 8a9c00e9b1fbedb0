import { abortObligations } from "./aborts.js";
import { accessorEffectObligations } from "./accessor-effects.js";
import { accessorObligations } from "./accessors.js";
import { authorizationRequestObligations } from "./authorization-request.js";
import { badInputObligations } from "./bad-input.js";
import { bodyObligations } from "./bodies.js";
import { callbackFailureObligations } from "./callback-failures.js";
import { callbackObligations } from "./callback.js";
import { cookieObligations } from "./cookie.js";
import { debugObligations } from "./debug.js";
import { errorObligations } from "./errors.js";
import { guardAnswerObligations } from "./guard-answers.js";
import { guardObligations } from "./guard.js";
import { guardedResponseObligations } from "./guarded-responses.js";
import { httpObligations } from "./http.js";
import { indexPageObligations } from "./index-page.js";
import { loginObligations } from "./login.js";
import { logoutObligations } from "./logout.js";
import { methodObligations } from "./methods.js";
import { mountObligations } from "./mounts.js";
import type { HostObligation } from "./requirement.js";
import { originObligations } from "./origins.js";
import { pathPrefixObligations } from "./path-prefix.js";
import { pendingLoginObligations } from "./pending-logins.js";
import { probeObligations } from "./probe.js";
import { proxyObligations } from "./proxy.js";
import { redirectCorpusObligations } from "./redirect-corpus.js";
import { refreshObligations } from "./refresh.js";
import { storeOutageObligations } from "./store-outage.js";
import { subPathObligations } from "./sub-path.js";
import { tripObligations } from "./trip.js";

/** THE table: everything that a host owes, in the order of a report. */
export const hostObligations: readonly HostObligation[] = [
  ...tripObligations,
  ...loginObligations,
  ...authorizationRequestObligations,
  ...originObligations,
  ...redirectCorpusObligations,
  ...pendingLoginObligations,
  ...callbackObligations,
  ...callbackFailureObligations,
  ...cookieObligations,
  ...probeObligations,
  ...refreshObligations,
  ...logoutObligations,
  ...indexPageObligations,
  ...debugObligations,
  ...httpObligations,
  ...methodObligations,
  ...storeOutageObligations,
  ...guardObligations,
  ...guardAnswerObligations,
  ...guardedResponseObligations,
  ...accessorObligations,
  ...accessorEffectObligations,
  ...errorObligations,
  ...bodyObligations,
  ...abortObligations,
  ...mountObligations,
  ...subPathObligations,
  ...proxyObligations,
  ...pathPrefixObligations,
  ...badInputObligations,
];
