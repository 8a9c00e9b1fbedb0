// @ts-check
import { deepEqual, equal, match } from "node:assert/strict";
import { once } from "node:events";
import { after, test } from "node:test";
import { signIn } from "idpauth/testing";
import { WebSocket } from "ws";
import { COMPANY, GRACE, startApplication } from "./application.mjs";

const { server, company, orders, stop } = await startApplication();
after(stop);

void test("the orders API gets the user's token, and a 401 of it is survived", async () => {
  const user = await signIn(server, { ...GRACE, sub: "grace" }, COMPANY);
  orders.refuseNext();
  equal((await user.get("/open-orders")).status, 200);
  equal(company.requestsTo("token", { grant_type: "refresh_token" }).length, 1);
  deepEqual(
    orders.requests.map(({ path, status, claims }) => [path, status, claims?.["sub"]]),
    [
      ["/items?open=true", 401, undefined],
      ["/items?open=true", 200, "grace"],
    ],
  );
});

void test("a POST and a WebSocket pass through the proxy, and the socket ends with the session", async () => {
  const user = await signIn(server, GRACE, COMPANY);
  orders.refuseNext();
  equal((await user.post("/api/orders/items", { item: "paper" })).status, 200);
  equal(orders.requests.at(-1)?.body, '{"item":"paper"}');
  equal(
    (await user.post("/api/orders/items", {}, { headers: { "sec-fetch-site": "cross-site" } }))
      .status,
    403,
  );

  const socket = new WebSocket(new URL("/api/orders/socket", user.origin), {
    headers: { cookie: user.cookie, origin: user.origin },
  });
  await once(socket, "open");
  socket.send("hello");
  match(String((await once(socket, "message"))[0]), /hello/);
  const closed = once(socket, "close");
  await user.follow("/idpauth/logout/");
  equal((await closed)[0], 1006);
});
