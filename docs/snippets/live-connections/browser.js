import { createClient } from "idpauth/client";

const auth = createClient(); // the client that the rest of your page uses
/** @type {EventSource | undefined} */
let source;

function close() {
  source?.close();
  source = undefined;
}

/** Opens the stream for a signed-in user in a visible tab, and closes it otherwise. */
function follow() {
  if (document.hidden || auth.getState().status !== "signed-in") return close();
  if (source) return;
  source = new EventSource("/api/stream");
  source.addEventListener("tick", ({ data }) => console.log(data));
  source.addEventListener("ended", () => {
    close(); // otherwise the browser connects again and gets 401
    void auth.refresh().then(follow);
  });
  source.addEventListener("error", () => {
    // the response was no stream, such as 503
    if (source?.readyState === EventSource.CLOSED) close();
  });
}

document.addEventListener("visibilitychange", follow);
auth.subscribe(follow);
follow();
