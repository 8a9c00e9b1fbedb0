/** The proxies of an `auth` object. Their code is loaded by the first request for an API. */
import type { Component } from "./component.js";
import type { FrameworkAdapter } from "./public-types.js";
import type { Api } from "../config/api-options.js";
import { check } from "../config/check-table.js";
import type { Finding } from "../errors.js";
import { blockedUser, type Blocked } from "../guard/blocked.js";
import type { Remembered } from "../guard/guard.js";
import type { GuardRule } from "../guard/guard-rule.js";
import type { AnyReply } from "../http/reply.js";
import { pathOf, type IdpRequest } from "../http/request.js";
import { SessionRequest } from "../access/session-access.js";

interface ApiProxyParts<FrameworkRequest extends object> {
  readonly ready: () => Component<FrameworkRequest>;
  readonly adapter: FrameworkAdapter<FrameworkRequest>;
  readonly remember: (raw: FrameworkRequest) => Remembered;
  readonly guard: (raw: FrameworkRequest, rule: GuardRule) => Promise<Blocked | undefined>;
}
