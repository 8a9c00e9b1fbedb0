import { openSocket, openStream } from "/idpauth-client.js";

const notices = document.querySelector("#notices");
const orders = document.querySelector("#orders");

if (notices !== null) {
  const stream = openStream("/stream");
  stream.addEventListener("open", () => opened(notices));
  stream.addEventListener("notice", ({ data }) => add(notices, JSON.parse(data).text));

  const socket = openSocket("/api/orders/socket");
  socket.addEventListener("open", () => opened(orders));
  socket.addEventListener("message", ({ data }) => add(orders, data));

  document.querySelector("#order").addEventListener("click", async () => {
    const response = await fetch("/api/orders/items", { method: "POST", body: "paper" });
    add(orders, response.ok ? "Ordered" : "Not ordered");
  });
}

function add(list, text) {
  list.append(Object.assign(document.createElement("li"), { textContent: text }));
}

/** Counts the connections, the first one and each after an interruption. */
function opened(list) {
  list.dataset.opened = Number(list.dataset.opened ?? 0) + 1;
}
