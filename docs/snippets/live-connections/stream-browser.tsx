import { openStream } from "idpauth/client/streams";
import { useSession } from "idpauth/react";
import { useEffect, useState } from "react";

interface Notice {
  readonly id: number;
  readonly text: string;
}

export function Notices() {
  const { account } = useSession();
  const [notices, setNotices] = useState<readonly Notice[]>([]);
  const [hasStopped, setStopped] = useState(false);

  useEffect(() => {
    if (account === null) return undefined; // signed out: after the next sign-in, this runs again
    const stream = openStream("/api/stream", { closeWhenHidden: true });
    stream.addEventListener("notice", ({ data }) => {
      setNotices((earlier) => [...earlier, JSON.parse(data)]);
    });
    void stream.ended.then(({ reason }) => {
      setStopped(reason === "unavailable" || reason === "refused");
    });
    return () => {
      stream.close();
      setNotices([]); // the next user mustn't see them
      setStopped(false);
    };
  }, [account]);

  return (
    <>
      <ul>
        {notices.map(({ id, text }) => (
          <li key={id}>{text}</li>
        ))}
      </ul>
      {hasStopped && <p role="status">This list is no longer updated. Reload the page.</p>}
    </>
  );
}
