/**
 * Which store an application process opens, and how. Plain values: they travel on a command line.
 */
export type StoreOptions =
  | { readonly kind: "sqlite"; readonly path: string }
  | { readonly kind: "redis"; readonly client: "redis" | "ioredis"; readonly port: number }
  | { readonly kind: "redis-cluster"; readonly ports: readonly number[] }
  | { readonly kind: "postgres"; readonly url: string; readonly listens: boolean };

/**
 * Where a process kills itself: around the n-th call of one kind that it makes of its store,
 * counted from 1.
 */
export interface Death {
  readonly method: "insert" | "replace" | "delete";
  readonly number: number;
  readonly moment: "before" | "after";
}

/** Where a process suspends itself (SIGSTOP), once. */
export type Suspension =
  | {
      readonly method: Death["method"];
      readonly number: number;
      /** `during`: the command is on its way, and nobody has read the server's reply. */
      readonly moment: Death["moment"] | "during";
    }
  /** Everything is checked, and the token request is not sent yet. */
  | { readonly method: "send"; readonly grant: "refresh_token" | "authorization_code" };

/** What an application process is told when it starts. */
export interface ProcessOptions {
  readonly store: StoreOptions;
  readonly secretKey: string;
  readonly secretKeyFallbacks?: readonly string[];
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Seconds of the process's own clock that a user waits for a refresh. */
  readonly httpTimeout: number;
  /**
   * How many times as fast as real time its waits and deadlines pass, the lease's among them; the
   * date is the real one. Default 1.
   */
  readonly speed?: number;
  /** Whether tokens are bound to a key; default false. */
  readonly dpop?: boolean;
  readonly death?: Death;
  readonly suspension?: Suspension;
}
