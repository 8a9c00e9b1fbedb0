import { afterEach, describe, expect, it } from "vitest";
import { chromiumForTests } from "../support/chromium.js";
import { freePort } from "../support/free-port.js";
import { startHttpsFront, type HttpsFront } from "./https-front.js";
import { useStage } from "./stage.js";
import { choose, heading } from "./test-user.js";

const executablePath = await chromiumForTests();

describe.skipIf(executablePath === undefined)(
  "the addresses under which an application is opened in a browser",
  () => {
    const stage = useStage(executablePath);
    const fronts: HttpsFront[] = [];
    afterEach(() => Promise.all(fronts.splice(0).map((front) => front.close())));

    it.each(["127.0.0.1", "localhost"])(
      "without BASE_URL a session under %s stays there",
      async (name) => {
        const { origin } = (await stage.open()).user;
        const user = await stage.user(origin.replace("127.0.0.1", name));
        const tab = await user.signIn("/reports?month=10");
        expect(tab.url()).toBe(user.url("/reports?month=10"));
        expect(new URL(tab.url()).hostname).toBe(name);
      },
    );

    it("a sign-in under one name says nothing under the other", async () => {
      const { user } = await stage.open();
      const tab = await user.signIn();
      await tab.goto(user.url("/idpauth/").replace("127.0.0.1", "localhost"));
      expect(await heading(tab)).toBe("You are signed out");
    });

    it("with BASE_URL a login that starts under another name moves there, and comes back to the page there", async () => {
      const port = await freePort();
      await stage.open({ port, baseUrl: `http://localhost:${port}` });
      const user = await stage.user(`http://localhost:${port}`);
      for (const [start, end] of [
        ["/reports?month=10", "/reports?month=10"],
        ["/idpauth/login/", "/idpauth/"],
      ] as const) {
        const tab = await user.askFor(`http://127.0.0.1:${port}${start}`);
        await choose(tab, "ada");
        expect(tab.url()).toBe(user.url(end));
      }
      const cookies = (await user.context.cookies()).filter(({ name }) => name === "idpauth");
      expect(cookies.map(({ domain }) => domain)).toEqual(["localhost"]);
    });

    it("over https the cookie is __Host- and Secure, and everything works behind a proxy that ends TLS", async () => {
      const front = await startHttpsFront();
      fronts.push(front);
      const { application } = await stage.open({ baseUrl: front.origin });
      front.target = application.origin;
      const user = await stage.user(front.origin, { ignoreHTTPSErrors: true });
      const tab = await user.signIn("/reports?secure=1");
      expect(tab.url()).toBe(`${front.origin}/reports?secure=1`);
      expect(await tab.innerText("main")).toContain("Signed in as Ada Lovelace");
      const own = (await user.context.cookies(front.origin)).filter(
        ({ name }) => !name.startsWith("_") || name.startsWith("__Host-"),
      );
      expect(own).toEqual([
        expect.objectContaining({
          name: "__Host-Http-idpauth",
          path: "/",
          httpOnly: true,
          sameSite: "Lax",
          secure: true,
          domain: "localhost",
        }),
      ]);
      await tab.getByRole("link", { name: "Sign out" }).click();
      expect(tab.url()).toBe(`${front.origin}/idpauth/`);
      expect(await heading(tab)).toBe("You are signed out");
      expect((await user.context.cookies(front.origin)).map(({ name }) => name)).not.toContain(
        "__Host-Http-idpauth",
      );
    });
  },
);
