// @ts-check
import { deepEqual, equal, match } from "node:assert/strict";
import { after, test } from "node:test";
import { signIn } from "idpauth/testing";
import { findUser } from "../users.mjs";
import { COMPANY, GRACE, startApplication } from "./application.mjs";

const { server, company, redis, stop } = await startApplication();
after(stop);

void test("the first sign-in makes the user's row, and a later one updates it", async () => {
  const person = { sub: "joan", name: "Joan", email: "joan@example.com", groups: ["staff"] };
  const joan = { iss: company.issuer, sub: "joan" };
  const user = await signIn(server, person, COMPANY);
  deepEqual({ ...(await findUser(redis, joan)) }, { name: "Joan", email: person.email });
  await signIn(server, { ...person, name: "<b>Joan" }, COMPANY);
  deepEqual({ ...(await findUser(redis, joan)) }, { name: "<b>Joan", email: person.email });
  match((await user.navigate("/desk")).text, /Hello &#60;b&#62;Joan\./);
});

void test("a user sees all devices, and signs out everywhere", async () => {
  const laptop = await signIn(server, GRACE, COMPANY);
  const phone = await signIn(server, GRACE, COMPANY);
  const page = await laptop.navigate("/idpauth/sessions");
  equal(page.status, 200);
  match(page.text, /Sign out everywhere/);
  await laptop.post("/idpauth/sessions", new URLSearchParams({ end: "all" }));
  equal((await laptop.get("/desk")).status, 401);
  equal((await phone.get("/desk")).status, 401);
});
