import type { UnnamedFinding } from "../config/findings.js";
import { ownLogoutAddress } from "../config/provider-profiles.js";
import type { SettingName, Settings } from "../config/read-settings.js";
import type { SettingText } from "../config/setting-names.js";
import type { Document } from "../provider/endpoints-in-use.js";
import { liveCheck } from "./live-check-table.js";
import type { LogoutFacts } from "./live-facts.js";

/** Compares the logouts that the discovery document announces with the settings. Pure. */
export function checkLogout(
  document: Document,
  settings: Settings,
  endSession: string | null,
): { readonly fact: LogoutFacts; readonly findings: readonly UnnamedFinding[] } {
  const announces = (name: string) => document[name] === true;
  const fact = {
    backchannel: announces("backchannel_logout_supported"),
    backchannelSid: announces("backchannel_logout_session_supported"),
    frontchannel: announces("frontchannel_logout_supported"),
    frontchannelSid: announces("frontchannel_logout_session_supported"),
  };
  const findings: UnnamedFinding[] = [];
  const missing = (setting: SettingName, text: string, remedy?: SettingText) =>
    findings.push(
      liveCheck(
        "W113",
        ({ label }) => `${label(setting)} is on, but the discovery document ${text}`,
        remedy,
      ),
    );
  if (
    settings.logoutAtProvider !== false &&
    endSession === null &&
    ownLogoutAddress(settings) === undefined
  ) {
    missing(
      "logoutAtProvider",
      "doesn't contain a usable `end_session_endpoint`. A logout ends only the application's session.",
      ({ env }) =>
        `For your own domain at Auth0, set it to \`auth0\`. Otherwise name the endpoint in ${env("providerMetadata")}.`,
    );
  }
  if (settings.backchannelLogout && !fact.backchannel) {
    missing("backchannelLogout", "doesn't advertise `backchannel_logout_supported`.");
  }
  if (settings.frontchannelLogout && !(fact.frontchannel && fact.frontchannelSid)) {
    const name = fact.frontchannel
      ? "frontchannel_logout_session_supported"
      : "frontchannel_logout_supported";
    missing("frontchannelLogout", `doesn't advertise \`${name}\`. idpauth needs \`sid\`.`);
  }
  return { fact, findings };
}
