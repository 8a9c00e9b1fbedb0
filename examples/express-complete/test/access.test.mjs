// @ts-check
import { deepEqual, equal, match } from "node:assert/strict";
import { after, test } from "node:test";
import { browser, signIn } from "idpauth/testing";
import { ADA, ALAN, COMPANY, GRACE, startApplication } from "./application.mjs";

const { server, company, stop } = await startApplication();
after(stop);

void test("only staff get in, and others see the application's own page", async () => {
  const grace = await signIn(server, GRACE, COMPANY);
  equal((await grace.navigate("/desk")).status, 200);
  const alan = await signIn(server, ALAN, COMPANY);
  const refused = await alan.navigate("/desk");
  equal(refused.status, 403);
  match(refused.text, /Ask your team lead/);
  equal((await alan.get("/api/orders/items")).status, 403);
  equal((await (await browser(server)).get("/desk")).status, 401);
});

void test("only administrators see the administration", async () => {
  const [ada, grace] = [await signIn(server, ADA, COMPANY), await signIn(server, GRACE, COMPANY)];
  equal((await ada.navigate("/admin")).status, 200);
  match((await grace.navigate("/admin")).text, /Ask your team lead/);
});

void test("a transfer needs a sign-in of the last five minutes", async () => {
  const ada = await signIn(server, ADA, COMPANY);
  const transfer = () => ada.post("/transfer", new URLSearchParams({ amount: "5" }));
  equal((await transfer()).status, 200);
  company.clock.advance(306_000); // milliseconds
  equal((await transfer()).status, 401);
  const page = await ada.follow("/transfer"); // to the provider and back
  deepEqual([page.status, page.url.pathname], [200, "/transfer"]);
  equal((await transfer()).status, 200);
});

void test("the payroll is for users of the company's provider alone", async () => {
  const ada = await signIn(server, ADA, COMPANY);
  equal((await ada.get("/payroll")).status, 200);
  const joan = await signIn(
    server,
    { email: "joan@agency.example", groups: ["staff"] },
    { provider: "agency" },
  );
  equal((await joan.get("/desk")).status, 200);
  equal((await joan.get("/payroll")).status, 401);
  equal((await joan.get("/open-orders")).status, 403);
});

void test("the company's provider knows the application by its key", () => {
  const { params } = company.requestsTo("token")[0] ?? {};
  deepEqual([params?.has("client_assertion"), params?.has("client_secret")], [true, false]);
});
