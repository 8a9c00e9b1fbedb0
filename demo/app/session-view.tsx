import { useSession, useSessionClient } from "idpauth/react";
import { useState } from "react";
import { Deadlines } from "./deadlines.js";

interface Trial {
  readonly path: string;
  readonly label: string;
  readonly explanation: string;
  /** @param seconds of the response */
  readonly done: (seconds: number | undefined) => string;
}

const TRIALS: readonly Trial[] = [
  {
    path: "near-end",
    label: "Let the session end in 70 seconds",
    explanation: "Ten seconds later the warning opens. “Stay signed in” moves the idle limit.",
    done: (seconds) =>
      `The session ends in ${seconds ?? "some"} seconds. Do nothing, and the warning opens one minute before.`,
  },
  {
    path: "end",
    label: "End this session on the server",
    explanation:
      "As an administrator would. The event stream tells every tab. Write an item first: the form survives.",
    done: () => "The server has ended the session.",
  },
  {
    path: "outage",
    label: "Start an outage of the session store",
    explanation:
      "The store fails for a while. The state becomes unavailable, no user is signed out, and the page recovers by itself.",
    done: (seconds) => `The session store fails for ${seconds ?? "some"} seconds.`,
  },
];

/** The deadlines of the session, and what a user can try with it. */
export function SessionView() {
  const { status } = useSession();
  const auth = useSessionClient();
  const [message, setMessage] = useState("");

  const run = async ({ path, done }: Trial) => {
    try {
      const response = await auth.fetch(`/app/api/${path}`, { method: "POST" });
      const { seconds, detail } = (await response.json()) as { seconds?: number; detail?: string };
      setMessage(
        response.ok
          ? done(seconds)
          : (detail ?? `The server responded with status ${response.status}.`),
      );
    } catch {
      setMessage("The request failed.");
    }
    await auth.refresh();
  };

  return (
    <>
      <p>
        Requests of the list count as activity, and move the idle limit. The page's own checks do
        not.
      </p>
      <Deadlines />
      <h2>Try it out</h2>
      <ul className="links">
        <li>
          <a href="/app/" target="_blank" rel="noreferrer">
            Open a second tab
          </a>
          <span>Sign out in one of them: the other follows at once.</span>
        </li>
        {TRIALS.map((trial) => (
          <li key={trial.path}>
            <button
              className="button plain"
              disabled={status !== "signed-in"}
              onClick={() => void run(trial)}
            >
              {trial.label}
            </button>
            <span>{trial.explanation}</span>
          </li>
        ))}
      </ul>
      <p role="status">{message}</p>
    </>
  );
}
