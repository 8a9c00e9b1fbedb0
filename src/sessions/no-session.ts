import type { SeenSession, Updated, UserSession } from "../ports/user-session.js";
import type { SessionRecord } from "../record/record.js";

/**
 * The session of a request whose host isn't the application's: there is none, whatever cookies came,
 * and none can begin.
 */
export class NoSession implements UserSession {
  readonly atomic = true;
  readonly key = undefined;
  readonly setCookies: readonly string[] = [];
  seen: SeenSession | undefined;

  read(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  reload(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  update(): Promise<Updated> {
    return Promise.resolve({ changed: false, record: undefined });
  }

  begin(): Promise<SessionRecord> {
    return Promise.reject(
      new TypeError("No session begins at a host that isn't the application's."),
    );
  }

  regenerate(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  destroy(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  touch(): undefined {
    return undefined;
  }

  watchEnd(): () => void {
    return () => undefined;
  }

  reportEnd(): void {
    // There is no session that could end.
  }
}
