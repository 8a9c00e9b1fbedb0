import { useSession, useSessionClient } from "idpauth/react";
import { useCallback, useEffect, useState } from "react";

/** A session in the JSON of idpauth's sessions page; times in epoch seconds. */
interface Device {
  readonly id: string;
  readonly label: string | null;
  readonly login_at: number | null;
  readonly last_active: number | null;
  readonly current: boolean;
}

const TIME = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
const JSON_ONLY = { Accept: "application/json" };

/** The user's sessions on all devices. */
export function Devices({ address }: { readonly address: string }) {
  const { status, account } = useSession();
  const auth = useSessionClient();
  const [devices, setDevices] = useState<readonly Device[]>();
  const [message, setMessage] = useState("");

  const load = useCallback(async () => {
    const response = await auth.fetch(address, { headers: JSON_ONLY });
    if (response.ok)
      setDevices(((await response.json()) as { sessions: readonly Device[] }).sessions);
    else
      setMessage(
        response.status === 404
          ? "The list is off: IDP_SESSIONS_PAGE."
          : "The list cannot be loaded now.",
      );
  }, [auth, address]);

  useEffect(() => {
    if (status === "signed-in") load().catch(() => setMessage("The list cannot be loaded now."));
  }, [load, status, account]);

  const end = async (which: string) => {
    const response = await auth.fetch(address, {
      method: "POST",
      headers: JSON_ONLY,
      body: new URLSearchParams({ end: which }),
    });
    if (!response.ok) {
      setMessage("The session could not be ended. Try again.");
      return;
    }
    const { ended } = (await response.json()) as { ended: number };
    setMessage(`${ended} ${ended === 1 ? "session" : "sessions"} ended.`);
    // It may have been this one.
    if ((await auth.refresh()).status === "signed-in") await load();
  };

  return (
    <>
      <p>
        Each browser in which you are signed in. End a session here, and its page says so at once.
      </p>
      <ul className="links" aria-label="Your sessions">
        {devices?.map((device) => (
          <li key={device.id} className="device">
            <div className="text">
              {device.label ?? "Unknown device"} {device.current && <strong>This session</strong>}
              <span>Signed in {time(device.login_at)}</span>
              <span>Last active {time(device.last_active)}</span>
            </div>
            <button
              className="button plain"
              aria-label={`End session: ${device.label ?? "Unknown device"}`}
              onClick={() => void end(device.id)}
            >
              End
            </button>
          </li>
        ))}
      </ul>
      <div className="actions">
        <button className="button" onClick={() => void end("others")}>
          End all other sessions
        </button>
      </div>
      <p role="status">{message}</p>
    </>
  );
}

function time(seconds: number | null): string {
  return seconds === null ? "at an unknown time" : TIME.format(seconds * 1000);
}
