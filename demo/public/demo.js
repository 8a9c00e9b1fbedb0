import { createClient, openSocket, openStream } from "/idpauth-client.js";

const auth = createClient({ events: true });

const byId = (id) => document.getElementById(id);
const say = (card, text) => {
  const outcome = document.querySelector(`#${card} .outcome`);
  // The same text again would be read out again.
  if (outcome.textContent !== text) outcome.textContent = text;
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

/** These change the clock, the providers or the store, so only one of them runs at a time. */
const DISTURBING = ["race", "kill-race", "provider-outage", "store-outage"];

/** What a button does. While it runs, further clicks do nothing. */
function onClick(id, card, action) {
  const ids = DISTURBING.includes(id) ? DISTURBING : [id];
  const buttons = ids.flatMap((one) => byId(`${one}-button`) ?? []);
  byId(`${id}-button`)?.addEventListener("click", async ({ currentTarget }) => {
    if (currentTarget.ariaDisabled === "true") return;
    for (const button of buttons) button.ariaDisabled = "true";
    try {
      await action();
    } catch (error) {
      say(card, `That failed: ${error.message}. Is the demo still running?`);
    } finally {
      for (const button of buttons) button.ariaDisabled = "false";
    }
  });
}

if (byId("race") !== null) startScreen();

function startScreen() {
  // Who is signed in, and for how long.
  byId("sign-in-button").addEventListener("click", () => void auth.signIn());
  let heardAt = Date.now();
  const facts = () => showFacts(auth.getState(), (Date.now() - heardAt) / 1000);
  auth.subscribe(({ status, user }) => {
    heardAt = Date.now();
    facts();
    byId("sign-in-button").hidden = user !== null;
    for (const actions of document.querySelectorAll(".card:not(#sign-in) .actions"))
      actions.inert = user === null;
    for (const hint of document.querySelectorAll(".first")) hint.hidden = status !== "signed-out";
  });
  setInterval(facts, 1000);

  onClick("race", "race", () => race("race", "/demo/race"));
  onClick("kill-race", "fleet", () => race("fleet", "/demo/race?kill"));
  onClick("provider-outage", "outage", () => outage("provider"));
  onClick("store-outage", "outage", () => outage("store"));
  onClick("transfer", "step-up", transfer);
  onClick("confirm", "step-up", confirm);
  onClick("list", "orders", listOrders);
  onClick("connect", "orders", connect);
  byId("confirm-button").hidden = true;
  watchOtherTabs();
  hollowDots("race");
  if (byId("fleet") === null) return;
  hollowDots("fleet");
  void watchProcesses();
}

/** @param since the seconds since the server said so */
function showFacts({ user, data, deadlines }, since) {
  const until = (at) => (at - Date.now()) / 1000;
  const token = until(deadlines?.idToken ?? 0);
  const facts = {
    user: user?.name,
    provider: data?.provider,
    age: data && `${duration(data.age + since)} ago`,
    token: deadlines && (token > 0 ? `expires in ${duration(token)}` : "expired"),
    end: deadlines && `in ${duration(until(deadlines.end))}`,
    cookie: document.cookie || "none",
  };
  for (const [id, text] of Object.entries(facts)) byId(id).textContent = text ?? "–";
}

// 200 requests.

function hollowDots(card) {
  const list = document.querySelector(`#${card} .dots`);
  list.replaceChildren(...Array.from({ length: 200 }, () => document.createElement("li")));
  return list;
}

async function race(card, address) {
  const list = hollowDots(card);
  say(card, "Your token has expired, and 200 requests are on their way …");
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
  if (result === undefined) throw new Error("the connection was interrupted");
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
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const state = await fetch("/demo/state").catch(() => undefined);
    const options = { method: "HEAD", cache: "no-store" };
    const answer = await fetch("/public/demo.js", options).catch(() => undefined);
    if (state === undefined || answer === undefined) continue; // the demo has ended
    const { processes } = await state.json();
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
  }
}

// Outages.

async function outage(of) {
  const list = document.querySelector("#outage .dots");
  list.replaceChildren();
  const { seconds } = await jsonOf(await fetch(`/demo/outage?of=${of}`, { method: "POST" }));
  const end = Date.now() + seconds * 1000;
  const what = of === "store" ? "The session store" : "The provider";
  const down = `${what} is down for ${seconds} seconds. This page sends a request each second.`;
  for (;;) {
    const isOver = Date.now() > end;
    say("outage", isOver ? `${what} is back, and idpauth soon tries it again.` : down);
    const { status } = await auth.fetch("/api/me");
    const item = document.createElement("li");
    item.className = status === 200 ? "ok" : "wait";
    list.append(item);
    if (status === 200 && isOver) break;
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
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
        reason === "logout" || reason === "no_credentials"
          ? "You signed out in another tab, and this page knows."
          : "Your session has ended, and this page knows.",
      );
    if (status === "signed-in") say("tabs", "");
    if (status !== "unavailable") before = status;
  });
}

// A step-up. Browsers open a window only shortly after a click, so if they don't after the 401, a button does.

const WAITS = "The transfer waits, because you haven't signed in again.";
const BLOCKED = "Your browser blocks the window. Allow pop-ups for this page, and try again.";

async function transfer() {
  say("step-up", "The transfer has been sent …");
  const response = await auth.fetch("/api/transfer", { method: "POST", stepUp: true });
  byId("confirm-button").hidden = response.status !== 401;
  if (response.status === 401) return say("step-up", WAITS);
  const { age, maxAge } = await jsonOf(response);
  say(
    "step-up",
    `€100 transferred, because you signed in ${plural(age, "second")} ago. After ${maxAge} seconds, the next transfer asks you to sign in again.`,
  );
}

async function confirm() {
  const result = await auth.stepUp({ maxAge: 60 });
  if (result === "done") return transfer();
  say("step-up", result === "blocked" ? BLOCKED : WAITS);
}

async function jsonOf(response) {
  if (!response.ok) throw new Error(`the response is ${response.status}`);
  return response.json();
}

// The API behind the proxy.

async function listOrders() {
  const { items, token } = await jsonOf(await auth.fetch("/api/orders/items"));
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
  say("orders", "Both are open. Sign out in another tab, and they close.");
  const [{ reason }] = await Promise.all([stream.ended, socket.ended]);
  show("stream", "closed", false);
  show("socket", "closed", false);
  say(
    "orders",
    `Both were closed, because ${reason === "signed-out" ? "you're signed out" : `the reason is ${reason}`}.`,
  );
}
