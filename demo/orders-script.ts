/** Served as /orders.js: calls the orders API through the application, and says what happened. */
export const ORDERS_SCRIPT = `"use strict";
{
  const BASE = "/api/orders/";
  const byId = (id) => document.getElementById(id);
  const show = (id, text) => {
    byId(id).textContent = text;
  };

  // Whether the sign-in that the page offers is for an approval.
  let isForApproval = false;

  async function call(method, path, explain, body) {
    byId("again").hidden = true;
    show("outcome", method + " " + BASE + path + ": waiting.");
    try {
      const headers = { "X-Idpauth": "1", ...(body && { "Content-Type": "application/json" }) };
      const response = await fetch(BASE + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
      const text = await response.text();
      const isJson = /json/.test(response.headers.get("Content-Type") ?? "");
      const result = isJson ? JSON.parse(text) : {};
      const why = response.ok ? explain(result) : explainError(result, response.headers.get("X-Idpauth-Login"));
      show("outcome", method + " " + BASE + path + ": " + response.status + ". " + why);
      show("response", isJson ? JSON.stringify(result, null, 2) : text);
      byId("response").hidden = false;
      return response.ok;
    } catch {
      show("outcome", method + " " + BASE + path + ": no response.");
      return false;
    }
  }

  // The address of the login, which the page has. The body could be the API's own.
  const loginPage = byId("again-link").href;

  function explainError({ error, max_age, title, detail }, loginUrl) {
    const login = new URL(loginUrl ?? "/", location.href);
    if (!login.href.startsWith(loginPage)) return title ?? detail ?? error ?? "The API couldn't do it.";
    login.searchParams.set("scheme", "PRESERVE_ORIGIN_QP");
    login.searchParams.set("origin_url", location.href);
    byId("again-link").href = login.href;
    byId("again").hidden = false;
    isForApproval = error === "insufficient_user_authentication";
    if (!isForApproval) return "You're signed out.";
    return "The API requires a new sign-in, because an approval accepts one for " + max_age + " seconds only.";
  }

  const approve = () =>
    call("POST", "approvals", ({ secondsSinceSignIn }) => "The API approved the orders. You signed in " + secondsSinceSignIn + " s ago.");

  byId("list").addEventListener("click", () =>
    call("GET", "items", ({ items, token, cookie }) => {
      const got = "It got the access token " + token + "…, " + (cookie === null ? "and no cookie." : "and a cookie.");
      return "The API has " + items.length + " orders of yours. " + got;
    }),
  );
  byId("add").addEventListener("submit", async (event) => {
    event.preventDefault();
    const isAdded = await call("POST", "items", ({ text }) => "The API added “" + text + "”.", { text: byId("text").value });
    if (isAdded) byId("text").value = "";
  });
  byId("refused").addEventListener("click", () =>
    call("GET", "refused", ({ refused, accepted, secondsAgo }) => {
      const when = secondsAgo < 5 ? "" : secondsAgo + " s ago, ";
      const how = when + "the API refused the token " + refused + "…, so idpauth refreshed the tokens once. ";
      return how[0].toUpperCase() + how.slice(1) + "The token " + accepted + "… is the new one, which the API accepts.";
    }),
  );
  byId("approve").addEventListener("click", approve);

  // After the sign-in, the page does what it was needed for. The mark isn't in the address, which a link of another site could contain.
  byId("again-link").addEventListener("click", () => {
    if (isForApproval) sessionStorage.setItem("approve", "once");
  });
  if (sessionStorage.getItem("approve") !== null) {
    sessionStorage.removeItem("approve");
    void approve();
  }

  // A button that opens a connection, and closes it again. What a closed connection reports afterwards is no news.
  function connection(id, name, open) {
    const button = byId(id + "-button");
    let current;
    const closed = (connected, text) => {
      if (current !== connected) return;
      current = undefined;
      button.textContent = "Open the " + name;
      show(id, text);
    };
    button?.addEventListener("click", () => {
      const connected = current;
      if (connected !== undefined) {
        closed(connected, name[0].toUpperCase() + name.slice(1) + ": closed.");
        connected.close();
        return;
      }
      button.textContent = "Close the " + name;
      current = open(closed);
    });
  }

  connection("stream", "event stream", (closed) => {
    const source = new EventSource(BASE + "stream");
    show("stream", "Event stream: connecting.");
    source.addEventListener("tick", ({ data }) => show("stream", "Event stream: open, tick " + data + "."));
    source.addEventListener("error", () => {
      if (source.readyState === EventSource.CLOSED) closed(source, "Event stream: closed by the server, and refused now.");
      else show("stream", "Event stream: interrupted, connecting again.");
    });
    return source;
  });

  connection("socket", "WebSocket", (closed) => {
    const socket = new WebSocket(location.origin.replace(/^http/, "ws") + BASE + "socket");
    show("socket", "WebSocket: connecting.");
    socket.addEventListener("message", ({ data }) => {
      if (socket.readyState === WebSocket.OPEN) show("socket", "WebSocket: open, " + data + ".");
    });
    socket.addEventListener("close", ({ code }) => closed(socket, "WebSocket: closed by the server (code " + code + ")."));
    return socket;
  });
}
`;
