import type { Deadlines as SessionDeadlines } from "idpauth/client";
import { useSession } from "idpauth/react";
import { useEffect, useState } from "react";

const LIMITS: readonly (readonly [keyof SessionDeadlines, string])[] = [
  ["end", "The session ends"],
  ["idle", "Idle limit"],
  ["maxAge", "Maximum age"],
  ["sessionExpiry", "Provider's limit"],
  ["idToken", "ID token, then a silent refresh"],
];

/** The time until each limit of the session, each second. */
export function Deadlines() {
  const { status, deadlines } = useSession();
  const now = useNow();
  return (
    <table>
      <tbody>
        <tr>
          <th scope="row">State</th>
          <td>{status}</td>
        </tr>
        {LIMITS.map(([name, label]) => (
          <tr key={name}>
            <th scope="row">{label}</th>
            <td>{left(deadlines?.[name], now)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => {
      clearInterval(timer);
    };
  }, []);
  return now;
}

function left(deadline: number | null | undefined, now: number): string {
  if (deadline === undefined) return "–";
  if (deadline === null) return "none";
  const seconds = Math.max(0, Math.ceil((deadline - now) / 1000));
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return parts.map((part) => String(part).padStart(2, "0")).join(":");
}
