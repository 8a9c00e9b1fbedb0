import { createClient, openSocket, openStream } from "/idpauth-client.js";

const auth = createClient({ events: true });

const byId = (id) => document.getElementById(id);
const say = (card, text) => {
  document.querySelector(`#${card} .outcome`).textContent = text;
};
const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** Seconds as people say them. */
function duration(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return plural(whole, "second");
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

// The status, on both pages.

const ENDED = {
  no_credentials: "You're signed out",
  logout: "You've signed out in another tab",
  ended_everywhere: "Another device has signed you out",
};

function showStatus({ status, user, reason }) {
  const element = document.querySelector(".status");
  const text = {
    "signed-in": `Signed in as ${user?.name}`,
    "signed-out": ENDED[reason] ?? "You're signed out",
    unavailable: `Can't be checked now${user ? `, still signed in as ${user.name}` : ""}`,
  }[status];
  if (text === undefined) return;
  element.dataset.state = status;
  if (element.textContent !== text) element.textContent = text;
  byId("sign-out-button").hidden = status === "signed-out";
}
auth.subscribe(showStatus);
byId("sign-out-button").addEventListener("click", () => void auth.signOut());

/** What a button does. While it runs, further clicks do nothing. A signed-out user signs in first. */
function onClick(id, card, action) {
  const button = byId(id);
  button?.addEventListener("click", async () => {
    if (button.ariaBusy === "true") return;
    button.ariaBusy = "true";
    try {
      if (auth.getState().status === "signed-out") await auth.signIn({ popup: true });
      await action();
    } catch (error) {
      say(
        card,
        error.message === "cancelled" ? "You haven't signed in." : `That failed: ${error.message}`,
      );
    } finally {
      button.ariaBusy = "false";
    }
  });
}

if (byId("race") !== null) startScreen();

function startScreen() {
  // Who is signed in, and for how long.
  byId("sign-in-button").addEventListener("click", () => void auth.signIn());
  auth.subscribe(({ status, user }) => {
    const who = document.querySelector(".who");
    who.hidden = user === null;
    byId("sign-in-button").hidden = status === "signed-in";
    if (user === null) return;
    who.querySelector(".initial-letter").textContent = (user.name ?? "?").charAt(0);
    who.querySelector(".name").textContent = user.name;
    who.querySelector(".email").textContent = user.email;
  });
  let heardAt = Date.now();
  const facts = () => showFacts(auth.getState(), (Date.now() - heardAt) / 1000);
  auth.subscribe(() => {
    heardAt = Date.now();
    facts();
  });
  setInterval(facts, 1000);
  byId("probe-button").addEventListener("click", async () => {
    await auth.refresh();
    say("session", `Checked at ${new Date().toLocaleTimeString()}.`);
  });

  onClick("race-button", "race", () => race("race", "/demo/race"));
  onClick("kill-race-button", "fleet", () => race("fleet", "/demo/race?kill"));
  onClick("provider-outage-button", "outage", () => outage("provider"));
  onClick("store-outage-button", "outage", () => outage("store"));
  onClick("transfer-button", "step-up", transfer);
  onClick("list-button", "orders", listOrders);
  onClick("connect-button", "orders", connect);
  watchOtherTabs();
  hollowDots("race");
  if (byId("fleet") === null) return;
  hollowDots("fleet");
  void watchProcesses();
}

/** @param since the seconds since the server said so */
function showFacts({ data, deadlines }, since) {
  const until = (at) => (at === null || at === undefined ? null : (at - Date.now()) / 1000);
  const [token, end] = [until(deadlines?.idToken), until(deadlines?.end)];
  byId("provider").textContent = data?.provider ?? "–";
  byId("age").textContent = data === null ? "–" : `${duration(data.age + since)} ago`;
  byId("token").textContent =
    deadlines === null
      ? "–"
      : token === null || token <= 0
        ? "expired"
        : `expires in ${duration(token)}`;
  byId("end").textContent = end === null ? "–" : `in ${duration(end)}`;
  byId("cookie").textContent = document.cookie === "" ? "none" : document.cookie;
}

// 200 requests.

function hollowDots(card) {
  const list = document.querySelector(`#${card} .dots`);
  list.replaceChildren(...Array.from({ length: 200 }, () => document.createElement("li")));
  return list;
}

async function race(card, address) {
  const list = hollowDots(card);
  say(card, "The token has expired, and 200 requests are on their way …");
  const statuses = Array(200).fill(0);
  let repeated = 0;
  let killed;
  let result;
  const response = await fetch(address, { method: "POST" });
  for await (const line of linesOf(response)) {
    if (line.killed !== undefined) {
      killed = line.killed;
      say(card, `${killed} was killed in the middle of its token request …`);
    } else if (line.index === undefined) {
      result = line;
    } else {
      statuses[line.index] = line.status;
      if (line.status !== 200) repeated += 1;
      const second = line.process === "app-2" ? " second" : "";
      list.children[line.index].className = line.status === 200 ? `ok${second}` : "wait";
    }
  }
  const succeeded = statuses.filter((status) => status === 200).length;
  const facts = [
    `${succeeded} of 200 succeeded`,
    `${plural(result.tokenRequests, "token request")} at the provider`,
    `${(result.milliseconds / 1000).toFixed(1)} s`,
  ];
  const afterKill = `. ${killed} died during the first token request. The other process took over after 40 seconds, which the demo's clock skipped. ${repeated} responses were 503, and their requests were repeated`;
  say(card, `${facts.join(", ")}${killed === undefined ? "" : afterKill}.`);
  await auth.refresh();
}

/** The lines of a response, each of them JSON, as they arrive. */
async function* linesOf(response) {
  if (!response.ok) throw new Error(`the response is ${response.status}`);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) yield JSON.parse(line);
  }
}

async function watchProcesses() {
  const list = document.querySelector(".processes");
  for (;;) {
    const { processes } = await (await fetch("/demo/state")).json();
    const answer = await fetch("/public/demo.js", { method: "HEAD", cache: "no-store" });
    const last = answer.headers.get("X-Demo-Process");
    const texts = processes.map(({ name, pid, isRunning }) => {
      if (!isRunning) return `${name} starts again …`;
      return `${name}, pid ${pid}${name === last ? ", sent the last response" : ""}`;
    });
    if (list.dataset.shown !== texts.join()) {
      list.dataset.shown = texts.join();
      list.replaceChildren(
        ...processes.map(({ name, isRunning }, index) => {
          const item = document.createElement("li");
          item.className = `${isRunning ? "" : "ended"} ${index === 1 ? "second" : ""}`;
          item.append(Object.assign(document.createElement("span"), { textContent: texts[index] }));
          return item;
        }),
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

// Outages.

async function outage(of) {
  const list = document.querySelector("#outage .dots");
  const countdown = document.querySelector(".countdown");
  list.replaceChildren();
  const { seconds } = await (await fetch(`/demo/outage?of=${of}`, { method: "POST" })).json();
  const end = Date.now() + seconds * 1000;
  const what = of === "store" ? "The session store" : "The provider";
  say("outage", `${what} is down for ${seconds} seconds. This page sends a request each second.`);
  for (;;) {
    const { status } = await auth.fetch("/api/me");
    const item = document.createElement("li");
    item.className = status === 200 ? "ok" : "wait";
    list.append(item);
    const left = Math.ceil((end - Date.now()) / 1000);
    if (status === 200 && left <= 0) break;
    const when =
      left > 0 ? `down for ${plural(left, "more second")}` : "back, and tried again soon";
    countdown.textContent = `Last response: ${status}. ${what} is ${when}.`;
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
  countdown.textContent = "";
  const failed = list.querySelectorAll(".wait").length;
  const { user } = await auth.refresh();
  say(
    "outage",
    `${plural(failed, "request")} got 503. Then you were still signed in as ${user?.name}.`,
  );
}

// Another tab.

function watchOtherTabs() {
  let before = auth.getState().status;
  auth.subscribe(({ status, reason }) => {
    if (before === "signed-in" && status === "signed-out")
      say(
        "tabs",
        reason === "logout"
          ? "You signed out in another tab, and this page knows."
          : "Your session has ended, and this page knows.",
      );
    if (status === "signed-in") say("tabs", "");
    if (status !== "unavailable") before = status;
  });
}

// A step-up.

async function transfer() {
  say("step-up", "The transfer has been sent …");
  const response = await auth.fetch("/api/transfer", { method: "POST", stepUp: true });
  if (!response.ok)
    return say("step-up", "The transfer wasn't made, because you didn't sign in again.");
  const { age, maxAge } = await response.json();
  say(
    "step-up",
    `€100 transferred. You signed in ${plural(age, "second")} ago. After ${maxAge} seconds, the next transfer asks again.`,
  );
}

// The API behind the proxy.

async function listOrders() {
  const response = await auth.fetch("/api/orders/items");
  if (!response.ok) throw new Error(`the response is ${response.status}`);
  const { items, token } = await response.json();
  const list = document.querySelector(".orders");
  list.replaceChildren(
    ...items.map(({ item, state }) => {
      const element = document.createElement("li");
      element.append(item, Object.assign(document.createElement("strong"), { textContent: state }));
      return element;
    }),
  );
  say(
    "orders",
    `The API got an access token of “${token.sub}” and no cookie. This page got no token.`,
  );
}

async function connect() {
  document.querySelector(".live").hidden = false;
  const show = (id, text, isOpen) => {
    byId(id).textContent = text;
    byId(id).classList.toggle("open", isOpen);
  };
  const stream = openStream("/api/orders/stream");
  stream.addEventListener("message", ({ data }) => show("stream", data, true));
  const socket = openSocket("/api/orders/socket");
  let sent = 0;
  const ping = () => {
    sent += 1;
    socket.send(`${sent}`);
  };
  socket.addEventListener("open", ping);
  socket.addEventListener("message", ({ data }) => {
    show("socket", data, true);
    setTimeout(() => socket.readyState === WebSocket.OPEN && ping(), 1000);
  });
  byId("connect-button").disabled = true;
  say("orders", "Both are open. Sign out in another tab, and they close.");
  void Promise.all([stream.ended, socket.ended]).then(([{ reason }]) => {
    show("stream", "closed", false);
    show("socket", "closed", false);
    byId("connect-button").disabled = false;
    say(
      "orders",
      `Both were closed, because ${reason === "signed-out" ? "you're signed out" : `the reason is ${reason}`}.`,
    );
  });
}
