/** The proxies of an `auth` object. */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { SessionRequest } from "../access/session-request.js";
import type { Exchange } from "../apis/exchange.js";
import type { Api } from "../config/api-options.js";
import { apiMistake } from "../config/check-apis.js";
import type { Finding } from "../errors.js";
import type { GuardOpened } from "../guard/guard.js";
import { onFirstClose } from "../http/first-close.js";
import { seenClient } from "../http/forwarded-headers.js";
import type { AnyReply } from "../http/reply.js";
import { pathOf, type IdpRequest } from "../http/request.js";
import type { GuardRule } from "../record/guard-requirements.js";
import { waitForEnd } from "../sessions/session-end-signal.js";
import type { FrameworkAdapter, IdpAuth } from "./adapter-types.js";
import { isNode, loadFetchProxy, loadNodeProxy } from "./api-code.js";
import type { Component } from "./component.js";

export interface ApiProxyParts<FrameworkRequest extends object> {
  readonly ready: () => Component<FrameworkRequest>;
  readonly adapter: FrameworkAdapter<FrameworkRequest>;
  readonly openedOf: (raw: FrameworkRequest) => SessionRequest;
  readonly guard: GuardOpened;
}

export interface ApiProxies<FrameworkRequest extends object> extends Pick<
  IdpAuth<FrameworkRequest>,
  "proxyApi" | "proxyUpgrade"
> {
  /**
   * The errors for proxies of APIs that the table does not have, or that have no path, and for APIs
   * that this runtime can't send to as they say.
   */
  findings(apis: ReadonlyMap<string, Api>): Finding[];
}

export function createApiProxies<FrameworkRequest extends object>(
  parts: ApiProxyParts<FrameworkRequest>,
): ApiProxies<FrameworkRequest> {
  const { ready, adapter, openedOf, guard } = parts;
  /**
   * The rules of all proxies of an API. A WebSocket, whose upgrade passes no route, must pass them
   * all.
   */
  const rules = new Map<string, GuardRule[]>();

  function watchOf(opened: SessionRequest): Exchange["watch"] {
    const { settings, clock, open, subjectSessions } = ready();
    // Anew, because the session may have ended since the request read it.
    const session = () =>
      subjectSessions === undefined
        ? opened.session
        : open(undefined as never, opened.request).session;
    return (onEnd) => waitForEnd(session, { policy: settings, clock, onEnd });
  }

  const addressOf = (request: IdpRequest, known: string | undefined) =>
    seenClient(request, known, ready().settings.trustProxy);

  return {
    findings(apis) {
      const missing = [...rules.keys()].filter((name) => apis.get(name)?.path === undefined);
      const known = [...apis.values()]
        .flatMap(({ api, path }) => (path === undefined ? [] : api))
        .join(", ");
      const ofNode = isNode
        ? []
        : [...apis.values()].filter(({ dispatcher }) => dispatcher !== undefined);
      return [
        ...missing.map((name) =>
          apiMistake(
            `\`proxyApi(${JSON.stringify(name)})\`: \`apis\` has no API of this name with a \`path\`; there are: ${known || "none"}.`,
          ),
        ),
        ...ofNode.map(({ api }) =>
          apiMistake(`\`apis\`, ${JSON.stringify(api)}: \`dispatcher\` needs Node.js.`),
        ),
      ];
    },
    proxyApi(name, rule = {}) {
      rules.set(name, [...(rules.get(name) ?? []), rule]);
      return (raw) => {
        const component = ready();
        const api = component.apiNamed(name);
        const request = adapter.request(raw);
        if (!isBelow(api, request)) return undefined;
        const { node, web, client } = adapter.source?.(raw) ?? {};
        const proxied = () => {
          const opened = openedOf(raw);
          return {
            api,
            opened,
            client: addressOf(opened.request, client),
            onClose: adapter.onClose?.bind(adapter, raw),
            watch: watchOf(opened),
            guard,
            rules: [rule],
          };
        };
        const respond = (): Promise<AnyReply> =>
          isNode || web === undefined
            ? loadNodeProxy().then(({ respondOverNode }) =>
                respondOverNode(proxied(), { node, web }, component),
              )
            : loadFetchProxy().then(({ respondOverFetch }) =>
                respondOverFetch(proxied(), web, component),
              );
        const refused = component.hosts?.refused(request);
        return refused === undefined ? respond() : refused.then((reply) => reply ?? respond());
      };
    },
    proxyUpgrade(request, [message, socket, head], known) {
      const component = ready();
      if (!isForWebSocket(request)) {
        const connection = socket as Duplex;
        connection.on("error", () => undefined);
        loadNodeProxy()
          .then(({ declineOffer }) => {
            declineOffer(message as IncomingMessage, connection, head as Buffer);
          })
          .catch(() => connection.destroy());
        return true;
      }
      // The framework's own session is read by its middleware, which no upgrade passes.
      if (component.subjectSessions === undefined) return false;
      const found = [...rules].find(([name]) => isBelow(component.apiNamed(name), request));
      if (found === undefined) return false;
      const [name, required] = found;
      const upgraded = socket as Duplex;
      // At once: without a listener, a connection that breaks ends the process.
      upgraded.on("error", () => undefined);
      const upgrading = loadNodeProxy().then(async ({ upgrade }) => {
        await component.hosts?.find(request);
        const opened = component.open(undefined as never, request);
        const onClose = onFirstClose.bind(undefined, [upgraded]);
        const proxied = {
          api: component.apiNamed(name),
          opened,
          onClose,
          watch: watchOf(opened),
          client: addressOf(request, known ?? (message as IncomingMessage).socket.remoteAddress),
          guard,
          rules: required,
        };
        return upgrade(proxied, [message as IncomingMessage, upgraded, head as Buffer], component);
      });
      upgrading.catch(() => upgraded.destroy());
      return true;
    },
  };
}

/** Whether a request is an API's. The text that is compared is the text that is sent. */
function isBelow({ path }: Api, { target }: IdpRequest): boolean {
  return path !== undefined && (target.startsWith(path) || pathOf(target).startsWith(path));
}

/**
 * Whether a request asks for a WebSocket, and not for another protocol, such as h2c, with which some
 * clients begin.
 */
function isForWebSocket(request: IdpRequest): boolean {
  return request.header("upgrade")?.toLowerCase().includes("websocket") !== false;
}
