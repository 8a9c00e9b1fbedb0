import type { ClientIdentity } from "../record/record.js";
import type { Provider } from "./provider.js";

/** The application's client registration at one provider. */
export interface Registration extends ClientIdentity {
  /** Undefined: the application has one provider, without a key. */
  readonly key: string | undefined;
  /** What users read in place of the key. */
  readonly name: string;
  /** The path of its icon where users choose a provider. */
  readonly icon: string | undefined;
  readonly provider: Provider;
}
