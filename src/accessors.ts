import type { Accessors } from "./public-types.js";
import { announceLogouts } from "./access/announce-logout.js";
import type { Component } from "./component.js";
import { clientState } from "./endpoints/session.js";
import { withData } from "./record/application-data.js";
import type { JsonObject } from "./record/json.js";
import { isSameUser } from "./record/identity.js";
import { frozenCopy } from "./record/json.js";
import { epochSeconds, type Clock } from "./clock.js";
import { isValidIdpUrl } from "./config/provider-hosts.js";
import { loginUrlFor } from "./endpoints/login-url.js";
import type { SessionRequest } from "./endpoints/session-request.js";
import type { EventHub } from "./events/event-hub.js";
import type { IdpRequest } from "./http/request-and-replies.js";
import { frozenCredentials } from "./record/credentials.js";
import { userPayload } from "./record/identity.js";
import type { SessionRecord } from "./record/record.js";
import { specifiedKeys } from "./record/stored-form.js";
import { sessionView } from "./record/session-view.js";
import { whenEnded } from "./sessions/when-ended.js";
import { SESSION_FOR_TESTS } from "./sessions/session-for-tests.js";
import type { Subject, SubjectSessions } from "./sessions/subject-sessions.js";

export interface AccessorParts<FrameworkRequest extends object> {
  /** The component; it is started if it is not running yet. */
  readonly ready: () => Component<FrameworkRequest>;
  readonly visitOf: (raw: FrameworkRequest) => SessionRequest;
  readonly requestOf: (raw: FrameworkRequest) => IdpRequest;
  readonly onClose: ((raw: FrameworkRequest, closed: () => void) => void) | undefined;
  readonly idle: () => Promise<void>;
  readonly events: EventHub;
  readonly clock: Clock;
}

/** The functions of the `auth` object. Each is async if it reads a session, so that every error is a rejection. */
export function createAccessors<FrameworkRequest extends object>(parts: AccessorParts<FrameworkRequest>): Accessors<FrameworkRequest> {
  const { ready, visitOf, requestOf, onClose, idle, events, clock } = parts;
  const access = (raw: FrameworkRequest) => ready().access.access(visitOf(raw).session);

  function sessionsOf({ iss, sub }: Subject): SubjectSessions {
    if (typeof iss !== "string" || typeof sub !== "string" || iss === "" || sub === "") {
      throw new TypeError("Pass the user as the `iss` and `sub` of id_info, two non-empty strings.");
    }
    const { subjectSessions } = ready();
    if (subjectSessions !== undefined) return subjectSessions;
    throw new TypeError('With `session: "host"` only the framework\'s session store knows its sessions. List and end them there.');
  }

  async function keyOf(raw: FrameworkRequest | undefined): Promise<string | undefined> {
    if (raw === undefined) return undefined;
    const { session } = visitOf(raw);
    await session.read();
    return session.key;
  }

  return {
    async getCredentials(raw) {
      const outcome = await access(raw);
      return outcome.authenticated ? frozenCredentials(outcome.record.credentials) : null;
    },
    async getUser(raw) {
      const outcome = await access(raw);
      return outcome.authenticated ? userPayload(outcome.record.id_info) : null;
    },
    async getSession(raw) {
      const outcome = await access(raw);
      return outcome.authenticated ? sessionView(outcome.record, ready().settings, epochSeconds(clock)) : null;
    },
    async clientState(raw) {
      const { access: gate, settings, application, accountOf } = ready();
      return clientState(await gate.access(visitOf(raw).session, { slide: false }), false, { settings, clock, application, accountOf });
    },
    async getData(raw) {
      const outcome = await access(raw);
      return outcome.authenticated ? dataOf(outcome.record) : undefined;
    },
    async updateData(raw, change) {
      const { session } = visitOf(raw);
      const { application } = ready();
      const outcome = await access(raw);
      if (!outcome.authenticated) return undefined;
      const { id_info: idInfo } = outcome.record;
      const { record } = await session.update((fresh) => {
        // Another user may have signed in with this cookie meanwhile.
        if (fresh.credentials === undefined || !isSameUser(fresh.id_info, idInfo)) return fresh;
        return withData(fresh, application.checkedData(change(dataOf(fresh))));
      });
      return record?.credentials === undefined || !isSameUser(record.id_info, idInfo) ? undefined : dataOf(record);
    },
    async readSessionRecord(raw) {
      const record = await visitOf(raw).session.read();
      return record === undefined ? null : Object.freeze(specifiedKeys(record, ready().names));
    },
    async getAccessToken(raw, { minValidity = 30 } = {}) {
      return ready().access.accessToken(visitOf(raw).session, minValidity);
    },
    async checkIdpAuthentication(raw) {
      return (await ready().access.explain(visitOf(raw).session)).authenticated;
    },
    async explainIdpAuthentication(raw) {
      return ready().access.explain(visitOf(raw).session);
    },
    whenEnded(raw) {
      const { settings, open } = ready();
      return whenEnded(
        () => open(raw, requestOf(raw)).session,
        settings,
        clock,
        (closed) => onClose?.(raw, closed),
      );
    },
    loginUrl: (raw, options) => loginUrlFor(requestOf(raw), ready().settings, options),
    async listSessions(subject, current) {
      return sessionsOf(subject).list(subject, await keyOf(current));
    },
    async endSession(subject, id) {
      const isEnded = await sessionsOf(subject).end(subject, id);
      if (isEnded) announceLogouts(1, subject, { ...ready(), events });
      return isEnded;
    },
    async endAllSessions(subject, { except } = {}) {
      const ended = await sessionsOf(subject).endAll(subject, await keyOf(except));
      announceLogouts(ended, subject, { ...ready(), events });
      return ended;
    },
    async revokeIdpToken(token, hint = "refresh_token") {
      try {
        return await ready().provider.revoke(token, hint);
      } catch {
        return false;
      }
    },
    isValidIdpUrl: (url) => isValidIdpUrl(url, ready().settings.documentHosts),
    mountPath: () => ready().settings.mountPath,
    idle,
    on: (name, listener) => events.on(name, listener),
    [SESSION_FOR_TESTS]: async (asked = {}) => ready().sessionForTests(asked),
  };
}

/** The application's data as the application may see it. */
function dataOf({ idp_state: { data = {} } }: SessionRecord): JsonObject {
  return frozenCopy(data);
}
