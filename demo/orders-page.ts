import { html, page } from "./html.js";

/** The page of /orders. Its script is /orders.js. */
export function ordersPage(mountPath: string, hasSocket: boolean): string {
  const socket = hasSocket
    ? html`<button type="button" class="button" id="socket-button">Open the WebSocket</button>`
    : html`<p>
        With this framework, or with its own sessions, idpauth doesn't pass WebSockets on.
      </p>`;
  const body = html`<h1>Orders</h1>
    <p>
      The orders are in an API of its own, a second process. Your browser calls
      <code>/api/orders/</code> with its cookie, and idpauth passes the request on with your access
      token.
    </p>
    <h2>Call the API</h2>
    <div class="actions"><button type="button" class="button" id="list">List orders</button></div>
    <form class="actions" id="add">
      <label for="text">New order</label>
      <input id="text" class="field" required maxlength="100" autocomplete="off" />
      <button class="button">Add</button>
    </form>
    <h2>When the API responds 401</h2>
    <div class="actions">
      <button type="button" class="button" id="refused">Use a refused token</button>
      <button type="button" class="button" id="approve">Approve the orders</button>
    </div>
    <h2>What happened</h2>
    <p id="outcome" role="status">Nothing yet.</p>
    <p id="again" hidden><a id="again-link" href="${mountPath}login/">Sign in again</a></p>
    <pre id="response" hidden></pre>
    <h2>Streams</h2>
    <div class="actions">
      <button type="button" class="button" id="stream-button">Open the event stream</button>
      ${socket}
    </div>
    <div class="live">
      <p id="stream" role="status">Event stream: closed.</p>
      ${hasSocket ? html`<p id="socket" role="status">WebSocket: closed.</p>` : []}
    </div>
    <div class="actions"><a href="${mountPath}logout/">Sign out</a> <a href="/">Home</a></div>`;
  return page("Orders", body, "/orders.js");
}
