import type { Environment } from "../../config/read-settings.js";
import type { Finding } from "../../errors.js";
import {
  namedFor,
  ProviderCheck,
  type ProviderResult,
  type ProviderTarget,
} from "../../live/check-provider.js";
import { documentSource } from "../../provider/discovery-request.js";
import { navigate } from "./browser-navigation.js";
import type { CheckIo } from "./check-io.js";
import { checkStore } from "./check-live-store.js";
import { unusedProxy } from "./unused-proxy.js";

export interface LiveOptions {
  readonly target: ProviderTarget;
  /** For the module of `--store`, and the proxy variables. */
  readonly env: Environment;
  /** The value of `--store`. */
  readonly store: string | undefined;
  readonly io: CheckIo;
  /** Called with the name of each slow step. */
  readonly progress: (step: string) => void;
}

/**
 * Checks the configured provider and store, as far as the settings allow. Each step has a time
 * limit.
 */
export async function checkLive({
  target,
  env,
  store,
  io,
  progress,
}: LiveOptions): Promise<ProviderResult> {
  const check = new ProviderCheck({ target, io: { ...io, navigate }, progress });
  await check.run();
  const result = check.result();
  const findings = withProxy(
    result.findings,
    unusedProxy(documentSource(target.settings).address, env),
  );
  if (store === undefined) return { ...result, findings };
  progress("the session store");
  const { fact, findings: ofStore } = await checkStore(store, env, io);
  return {
    ...result,
    facts: { ...result.facts, store: fact },
    findings: [...findings, ...namedFor(target.names, ofStore)],
  };
}

/**
 * Names the proxy variable that Node.js ignores if the provider can't be reached.
 * @param proxy the remedy; undefined: there is no such variable
 */
function withProxy(findings: readonly Finding[], proxy: string | undefined): readonly Finding[] {
  if (proxy === undefined) return findings;
  return findings.map((finding) =>
    finding.code === "E101" ? { ...finding, remedy: `${proxy} ${finding.remedy}` } : finding,
  );
}
