import type { ProviderSettingName, Settings } from "../config/setting-table.js";

/** What one provider reads of the settings: its own, and some that all providers share. */
export type ProviderSettings = Pick<
  Settings,
  | ProviderSettingName
  | "scopeIsDefault"
  | "clockTolerance"
  | "debug"
  | "httpTimeout"
  | "refreshConcurrency"
  | "sessionAutoRefresh"
>;
