import { openStream } from "idpauth/client/streams";

const stream = openStream("/api/stream", { closeWhenHidden: true });
stream.addEventListener("open", () => console.log("Reload what the page shows."));
stream.addEventListener("error", () => console.log("Connecting again, or closed for good."));
stream.addEventListener("notice", ({ data }) => console.log(JSON.parse(data)));

const { reason } = await stream.ended; // "signed-out", "session-limit", "unavailable" or "refused"
console.log(`No more events: ${reason}`);
