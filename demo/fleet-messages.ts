/** What the supervisor and the processes of the fleet tell each other. */

/** One process of the fleet, as the supervisor sees it. */
export interface FleetProcess {
  readonly name: string;
  /** Its part, in a few words. */
  readonly part: string;
  readonly pid: number;
  readonly isRunning: boolean;
}

/** The supervisor to each application process, whenever something changes. */
export interface FleetNews {
  readonly processes: readonly FleetProcess[];
}

/** A process to the supervisor: it accepts requests. */
export interface ReadyMessage {
  readonly ready: true;
}

/** The provider says with it what an application needs to know. */
export interface ProviderReadyMessage extends ReadyMessage {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
}
