import { afterEach, describe, expect, it } from "vitest";
import { ConfigurationError } from "../../src/errors.js";
import {
  startApplication,
  type Application,
  type ApplicationOptions,
} from "../support/application.js";

let application: Application | undefined;
afterEach(async () => {
  await application?.stop();
  application = undefined;
});

async function start(options: ApplicationOptions) {
  application = await startApplication(options);
  return application.user();
}

describe("the option pages", () => {
  it("stops the start with every error, with those of the settings", async () => {
    const failure: unknown = await start({
      sessionMaxAge: -1,
      pages: { locale: "xx" as "en", colors: { accent: "red" } },
    }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ConfigurationError);
    expect(
      (failure as ConfigurationError).findings
        .map(({ code }) => code)
        .filter((code) => code.startsWith("E")),
    ).toEqual(["E006", "E021", "E021"]);
  });

  it("warns of a color with too little contrast, and starts", async () => {
    await start({ pages: { colors: { accent: "#ff9900" } } });
    expect(application?.log.map(({ code }) => code)).toContain("W017");
  });

  it("chooses the language of pages and errors by Accept-Language, and puts the colors into the stylesheet", async () => {
    const user = await start({ pages: { locale: "auto", colors: { accent: "#0a5c36" } } });
    const headers = { accept: "text/html", "accept-language": "ja" };
    const index = await user.get("/idpauth/", { headers });
    expect([index.status, index.headers["Content-Language"], index.headers["Vary"]]).toEqual([
      200,
      "ja",
      "Cookie, Accept-Language",
    ]);
    expect(index.body).toContain("ログインしていません");
    const missing = await user.get("/idpauth/nowhere", { headers });
    expect([missing.status, missing.headers["Content-Language"]]).toEqual([404, "ja"]);
    const problem = await user.get("/idpauth/nowhere", {
      headers: { ...headers, accept: "application/json" },
    });
    expect(problem.body).toContain("There is no page at this address");
    expect((await user.get("/idpauth/style.css")).body).toContain("--accent: #0a5c36;");
  });

  it("a render that throws leaves the page of idpauth and one log line without its message", async () => {
    const render = () => {
      throw new Error("a secret");
    };
    const user = await start({ pages: { render } });
    expect((await user.get("/idpauth/", { headers: { accept: "text/html" } })).body).toContain(
      "You are signed out",
    );
    const lines = application?.log.filter(({ code }) => code === "page_render_failed") ?? [];
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ level: "error", details: { kind: "signed-out" } });
    expect(JSON.stringify(lines)).not.toContain("a secret");
  });
});
