import { createElement, useEffect, useState, type ReactNode, type SyntheticEvent } from "react";
import { useSession, useSessionClient } from "./session-provider.js";
import { ENGLISH, type WarningTexts } from "./warning-texts.js";

/** Props of `SessionWarning`. */
export interface SessionWarningProps {
  /** The dialog opens this many seconds before the session ends. Default 60. */
  readonly warnBefore?: number;
  /** Texts that replace the English ones. */
  readonly texts?: Partial<WarningTexts>;
  /**
   * The class of the dialog. Default `session-warning`, the class of
   * `idpauth/react/session-warning.css`.
   */
  readonly className?: string;
}

/** The id of the title. An application has one warning. */
const TITLE = "session-warning";

/**
 * Renders a modal dialog that opens before the session ends and after it has ended (WCAG 2.2.1).
 *
 * It needs a `SessionProvider` above it. Render one in an application, outside of forms.
 */
export function SessionWarning({
  warnBefore = 60,
  texts,
  className = TITLE,
}: SessionWarningProps): ReactNode {
  const client = useSessionClient();
  const state = useSession();
  const { deadlines } = state;
  // A signed-out state has no deadlines. The last ones tell that this page had a session.
  const [known, setKnown] = useState(deadlines);
  const [left, setLeft] = useState(Infinity);
  const [outcome, setOutcome] = useState("");
  const [shown, setShown] = useState(state);
  const end = known?.end ?? Infinity;
  if (deadlines && deadlines !== known) setKnown(deadlines);

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    const tick = () => {
      // The known end can be a second too early, so the dialog shows 0 s for one second before it
      // says that the session has ended.
      const rest = end + 1000 - Date.now();
      // The result is the same until the warning, so that React renders nothing.
      setLeft(Math.min(Math.ceil(rest / 1000) - 1, warnBefore + 1));
      if (rest > 0) timer = setTimeout(tick, rest % 1000 || 1000);
    };
    tick();
    return () => clearTimeout(timer);
  }, [end, warnBefore]);

  const hasEnded = known && (!state.user || left < 0);
  const phase = hasEnded
    ? "ended"
    : left > warnBefore
      ? ""
      : known?.idle === end
        ? "stay"
        : "again";
  const canStay = phase === "stay";
  const isOpen = phase && phase !== outcome;
  if (!phase && outcome) setOutcome("");
  if (state !== shown) {
    setShown(state);
    // Another request has met the end and waits: the user has to know, even after a click on
    // "Close".
    if (state.reason && state.reason === shown.reason) setOutcome("");
  }

  const text = { ...ENGLISH, ...texts };
  const close = () => setOutcome(phase);
  const attempt = () => {
    const promise = canStay ? client.keepAlive() : client.signIn({ popup: true });
    void promise
      .catch(() => null)
      .then((next) => setOutcome(next?.status === "signed-in" ? "" : "failed"));
  };
  const button = (label: string, onClick: () => unknown) =>
    createElement("button", { type: "button", onClick }, label);

  return createElement(
    "dialog",
    {
      // React calls it after each render, because it is another function each time. A dialog that
      // the browser has closed opens again.
      ref: (dialog: HTMLDialogElement | null): void => {
        if (!isOpen) dialog?.close();
        else if (!dialog?.open) dialog?.showModal();
      },
      role: "alertdialog",
      className,
      "aria-labelledby": TITLE,
      onClose: ({ currentTarget: { open } }: SyntheticEvent<HTMLDialogElement>) => {
        // In a hidden page, the event of an earlier closing can arrive after the dialog has opened
        // again.
        if (!open) (canStay ? attempt : close)();
      },
    },
    isOpen &&
      createElement(
        "div",
        {},
        createElement(
          "h2",
          // A screen reader announces 60, 30 and 10 seconds and the end, and stays silent at the
          // other seconds.
          { id: TITLE, "aria-live": hasEnded || [60, 30, 10].includes(left) ? "polite" : "off" },
          hasEnded
            ? text[state.reason === "logout" ? "logout" : "ended"]
            : text.ends.replace("{seconds}", `${left}`),
        ),
        createElement("p", {}, !canStay && text.again),
        createElement("p", { role: "alert" }, outcome === "failed" && text.failed),
        button(text[canStay ? "stay" : "signIn"], attempt),
        !hasEnded && button(text.signOut, () => client.signOut()),
        !canStay && button(text.close, close),
      ),
  );
}
