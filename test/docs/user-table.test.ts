import { readFileSync } from "node:fs";
import path from "node:path";
import express from "express";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { idpAuth } from "../../src/adapters/express/express.js";
import * as main from "../../src/index.js";
import { browser, startTestProvider, type TestProvider } from "../../src/testing/index.js";
import { runSample } from "./run-sample.js";

const ROOT = path.resolve(import.meta.dirname, "../..");

let provider: TestProvider;

beforeEach(async () => {
  provider = await startTestProvider();
});

afterEach(() => provider.stop());

describe("docs/how-to/user-table.md", () => {
  const page = readFileSync(path.join(ROOT, "docs/how-to/user-table.md"), "utf8");
  const sample = (title: string) => {
    const section = page.split(/^## /m).find((each) => each.startsWith(`${title}\n`)) ?? "";
    return /^```js\n(.*?)^```$/ms.exec(section)?.[1] ?? "";
  };
  const post = { method: "POST", headers: { "X-Idpauth": "1" } };

  it("ends a deleted user's sessions, and refuses the next sign-in", async () => {
    let deleted: string | null = null;
    const pool = {
      query(text: string) {
        if (text.startsWith("update")) deleted = "2026-11-23";
        return Promise.resolve({ rows: [{ deleted_at: deleted }] });
      },
    };
    const modules = {
      idpauth: main,
      "idpauth/express": {
        idpAuth: (options: main.IdpAuthOptions) =>
          idpAuth({ env: provider.env, clock: provider.clock, log: false, ...options }),
      },
    };
    const user = await browser(
      await runSample(sample("Delete a user"), { app: express(), pool }, modules),
    );
    await user.follow("/idpauth/login/?max_age=300");
    expect((await user.get("/account/delete", post)).json()).toEqual({ ended: 1 });
    expect((await user.get("/idpauth/session")).json()).toMatchObject({ authenticated: false });
    expect((await user.follow("/idpauth/login/")).status).toBe(403);
    await user.close();
  });
});
