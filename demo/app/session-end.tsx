import { useSession, useSessionClient } from "idpauth/react";
import { useEffect, useState } from "react";

/** Warns one minute before the session ends, and lets the user extend it if that is possible. */
export function SessionEnd() {
  const { deadlines } = useSession();
  const { keepAlive } = useSessionClient();
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const end = deadlines?.end ?? Infinity;
  const seconds = Math.max(0, Math.ceil((end - now) / 1000));
  if (deadlines === null || seconds > 60) return null;
  return (
    <p role="alert">
      Your session ends in {seconds} s.{" "}
      {deadlines.idle === end ? (
        <button onClick={() => void keepAlive()}>Stay signed in</button>
      ) : (
        "Save your work, and sign in again."
      )}
    </p>
  );
}
