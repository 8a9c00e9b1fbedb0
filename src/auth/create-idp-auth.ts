import { systemClock } from "../clock.js";
import type { IdpAuthNames } from "../config/inferred-names.js";
import { splitProviders } from "../config/provider-source.js";
import { STARTUP_CHECKS } from "../config/startup-checks.js";
import {
  ApiTokenError,
  ConfigurationError,
  isOutage,
  seeExplanation,
  type Finding,
  type IdpAuthError,
} from "../errors.js";
import { componentLog } from "../events/component-log.js";
import { driverCode, EventHub } from "../events/event-hub.js";
import { logLine } from "../events/log-lines.js";
import type { LogDetails } from "../events/log.js";
import { DeclaredRules } from "../guard/declared-rules.js";
import { assertGuardOptions } from "../guard/guard-usage.js";
import { createGuard } from "../guard/guard.js";
import { hasReply, uncaughtReply } from "../pages/failure-reply.js";
import { Shutdown } from "../work/shutdown.js";
import { createAccessors } from "./accessors.js";
import type { FrameworkAdapter, FrameworkFacts, IdpAuth } from "./adapter-types.js";
import { createApiProxies } from "./api-proxy.js";
import type { ComponentParts } from "./component-parts.js";
import { compose, type Component } from "./component.js";
import { withAskedOrigins } from "./host-gate.js";
import type { IdpAuthOptions } from "./idp-auth-options.js";
import { lateEventStreams } from "./late-event-streams.js";
import { lateProvider } from "./late-provider.js";
import { RequestMemory } from "./request-memory.js";
import { reportServerProblems } from "./server-problems.js";
import { checkedSettings, startedLine, type CheckedSettings, type CheckParts } from "./startup.js";

/** Creates the component for one framework. It reads no clock, file or network before its start. */
export function createIdpAuth<
  FrameworkRequest extends object,
  OwnClaims extends object = object,
  Data extends object = Record<string, unknown>,
  Names extends IdpAuthNames = IdpAuthNames,
>(
  options: IdpAuthOptions<OwnClaims, Data, Names>,
  adapter: FrameworkAdapter<FrameworkRequest>,
): IdpAuth<FrameworkRequest, OwnClaims, Data, Names> {
  // Inside, the application's types do not matter: what its functions return is checked as JSON.
  return createIdpAuthOver(
    options as unknown as IdpAuthOptions,
    adapter,
    lateProvider,
  ) as unknown as IdpAuth<FrameworkRequest, OwnClaims, Data, Names>;
}

/**
 * As `createIdpAuth`, with the given provider: for tests that schedule every step. The package does
 * not export it.
 */
export function createIdpAuthOver<FrameworkRequest extends object>(
  options: IdpAuthOptions,
  adapter: FrameworkAdapter<FrameworkRequest>,
  createProvider: ComponentParts<FrameworkRequest>["createProvider"],
): IdpAuth<FrameworkRequest> {
  const { clock = systemClock } = options;
  const events = new EventHub(componentLog(options, clock), clock);
  const shutdown = new Shutdown();
  const warned = new Set<string>();
  const rules = new DeclaredRules();
  let started: CheckedSettings | undefined;
  let running: Component<FrameworkRequest> | undefined;
  /** Whether the application has started idpauth, or a request has reached the endpoints. */
  let isMounted = adapter.mountsLate === true;

  function warn({ code, severity, message, remedy }: Finding): void {
    if (warned.has(message)) return;
    warned.add(message);
    const level = severity === "error" ? "error" : "warn";
    events.log({ level, code, message: `${message} ${remedy} ${seeExplanation(code)}` });
  }

  const guardFindings: CheckParts["guardFindings"] = (providers, apis) => [
    ...rules.findings(providers, apis, splitProviders(options.providers).source !== undefined),
    ...proxies.findings(apis),
  ];

  function checked(facts?: FrameworkFacts): CheckedSettings {
    return checkedSettings({ options, adapter, facts, guardFindings });
  }

  function run(facts?: FrameworkFacts): readonly Finding[] {
    const found = checked(facts);
    found.findings.forEach(warn);
    // A component that is mounted twice has one set of sessions.
    if (running === undefined) {
      const settings = withAskedOrigins(found.settings, { clock, events });
      running = compose(
        { ...found, settings },
        {
          options,
          adapter,
          clock,
          events,
          createProvider,
          rules,
          shutdown,
          endpointOpened: (raw, opened) => {
            memory.endpointOpened(raw, opened);
          },
        },
      );
      started = found;
      events.log(startedLine(found, options));
      reportServerProblems(options.store, clock, warn);
    }
    return found.findings;
  }

  function ready(): Component<FrameworkRequest> {
    // If the component was never mounted, the checks run now: a mistake must not look like a
    // signed-out user.
    if (running === undefined) run();
    return running as Component<FrameworkRequest>;
  }

  const memory = new RequestMemory<FrameworkRequest>(
    (raw) => ready().open(raw, adapter.request(raw)),
    clock,
  );
  const openedOf = (raw: FrameworkRequest) => memory.remember(raw).opened;
  const { guardOpened, ...guard } = createGuard({ ready, memory, adapter, events });
  const proxies = createApiProxies({ ready, adapter, openedOf, guard: guardOpened });
  const settled = async () => running?.settled();

  /** A route that is declared after the start is checked at once. */
  function assertRoutes(): void {
    const findings = started === undefined ? [] : guardFindings(started.providers, started.apis);
    if (findings.some(({ severity }) => severity === "error"))
      throw new ConfigurationError(findings);
    findings.forEach(warn);
  }

  return {
    ...createAccessors({ ready, memory, openedOf, adapter, settled, shutdown, clock, events }),
    start(facts) {
      const findings = run(facts);
      isMounted = true;
      return findings;
    },
    [STARTUP_CHECKS]: () => ({ ...checked(), options }),
    handle(raw) {
      isMounted = true;
      return ready().router.handle(adapter.request(raw), raw);
    },
    uncaught(error, raw) {
      if (!hasReply(error)) return undefined;
      const reply = uncaughtReply(error, adapter.request(raw), ready().pages);
      const { code, message, status } = error;
      // An outage of the provider or the store has its line already.
      if (status >= 500 && !isOutage(error))
        events.log({ level: "warn", code, message, details: causeOf(error) });
      return reply;
    },
    ...guard,
    guard(raw, rule) {
      const decided = guard.guard(raw, rule);
      if (isMounted) return decided;
      return decided.then((blocked) => {
        if (!isMounted && blocked !== undefined) events.logOnce(logLine("not_mounted"));
        return blocked;
      });
    },
    mountPath: () => ready().settings.mountPath,
    isClosing: () => shutdown.isClosing,
    proxyUpgrade: proxies.proxyUpgrade,
    openEventStream: lateEventStreams({ ready, adapter, memory, shutdown }),
    proxyApi(api, rule = {}) {
      assertGuardOptions(rule);
      rules.declare(rule);
      const proxy = proxies.proxyApi(api, rule);
      assertRoutes();
      return proxy;
    },
    declareGuard(guardOptions) {
      assertGuardOptions(guardOptions);
      rules.declare(guardOptions);
      assertRoutes();
    },
  };
}

/** The details of the line for an error that the application didn't catch. */
function causeOf(error: IdpAuthError): LogDetails {
  if (error instanceof ApiTokenError) return { reason: error.reason, api: error.api };
  return { reason: driverCode(error) };
}
