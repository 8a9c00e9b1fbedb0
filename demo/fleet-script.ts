/** Served as /fleet.js: asks for the page every second and takes over what has changed in it. */
export const FLEET_SCRIPT = `"use strict";
const SECOND = 1000;
const MOST_SHOWN = 40;
const byId = (id) => document.getElementById(id);

const counts = new Map();
let unanswered = 0;
let isPaused = false;
let isAsking = false;

async function ask() {
  if (isAsking) return;
  isAsking = true;
  try {
    const response = await fetch("/", { cache: "no-store", redirect: "error", signal: AbortSignal.timeout(5 * SECOND) });
    const text = await response.text();
    // The balancer's own page is not one to take anything over from.
    if (text.includes('id="answer"')) show(new DOMParser().parseFromString(text, "text/html"));
    else nobody("The load balancer says that no application process runs.");
  } catch {
    nobody("The load balancer does not answer.");
  } finally {
    isAsking = false;
  }
}

function show(next) {
  const answer = next.getElementById("answer");
  // Only what differs is replaced, so that a command being copied stays selected.
  for (const part of document.querySelectorAll("[data-live]")) {
    const fresh = next.getElementById(part.id);
    if (fresh !== null && fresh.innerHTML !== part.innerHTML) part.innerHTML = fresh.innerHTML;
  }
  say("");
  remember(answer.dataset.name, answer.dataset.state);
}

function nobody(why) {
  say(why + " What this page shows is from before.");
  remember("", "unknown");
}

function say(text) {
  if (byId("note").textContent !== text) byId("note").textContent = text;
}

function remember(name, state) {
  const item = document.createElement("li");
  item.className = "badge " + (state === "unknown" ? "none" : name + " " + state);
  item.textContent = state === "unknown" ? "–" : name.slice(-1);
  byId("answers").append(item);
  while (byId("answers").childElementCount > MOST_SHOWN) byId("answers").firstElementChild.remove();

  if (state === "out") {
    counts.clear();
    unanswered = 0;
  } else if (state === "in") counts.set(name, (counts.get(name) ?? 0) + 1);
  else unanswered += 1;
  byId("tally").textContent = tally(state);
  watch(state);
}

let source;

// While the user is signed in, an event stream to one of the processes is open.
function watch(state) {
  if (state !== "in" || source !== undefined) return;
  const tell = (text) => {
    byId("stream").textContent = "Event stream: " + text;
  };
  source = new EventSource("/api/stream");
  const close = () => {
    source.close();
    source = undefined;
  };
  source.addEventListener("tick", ({ data }) => tell("open, tick " + data + "."));
  source.addEventListener("ended", ({ data }) => {
    close();
    tell("closed, because the session has ended (" + data + ").");
  });
  source.addEventListener("error", () => {
    if (source.readyState === EventSource.CLOSED) close();
    tell("connecting to another process.");
  });
}

function tally(state) {
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const by = [...counts].sort().map(([name, count]) => count + " from " + name).join(", ");
  const lost = unanswered === 0 ? "" : " " + unanswered + (unanswered === 1 ? " request" : " requests") + " met an outage.";
  if (all > 0) return "Signed in on all of " + all + (all === 1 ? " answer: " : " answers: ") + by + "." + lost;
  return state === "out" ? "Not signed in." : lost.trim();
}

byId("history").hidden = false;
byId("pause").hidden = false;
byId("pause").addEventListener("click", () => {
  isPaused = !isPaused;
  byId("pause").textContent = isPaused ? "Go on" : "Pause";
});
byId("ask").addEventListener("click", (event) => {
  event.preventDefault();
  void ask();
});
setInterval(() => {
  if (!isPaused && !document.hidden) void ask();
}, SECOND);
remember(byId("answer").dataset.name, byId("answer").dataset.state);
`;
