import { spawn } from "node:child_process";
import { once } from "node:events";
import { browser, signIn, startTestProvider } from "idpauth/testing";
import { afterAll, expect, test } from "vitest";

const provider = await startTestProvider();
const app = spawn(process.execPath, ["node_modules/next/dist/bin/next", "start", "--port=0"], {
  env: { ...process.env, ...provider.env, NODE_ENV: "production" },
  stdio: ["ignore", "pipe", "inherit"],
});
afterAll(async () => {
  app.kill(); // sends SIGTERM
  await once(app, "exit");
  await provider.stop();
});

const origin = await new Promise<string>((resolve, reject) => {
  app.once("exit", reject);
  app.stdout.on("data", (text) => {
    const [address] = /http:\/\/localhost:\d+/.exec(String(text)) ?? [];
    if (address !== undefined) resolve(address);
  });
});

test("a signed-in user sees the reports", async () => {
  const user = await signIn(origin, { email: "ada@example.com" });
  expect((await user.navigate("/reports")).text).toContain("ada@example.com");
});

test("a signed-out user is redirected to the login", async () => {
  const page = await (await browser(origin)).navigate("/reports");
  expect(page.location).toContain("/idpauth/login/");
});
