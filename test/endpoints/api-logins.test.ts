import { beforeEach, describe, expect, it } from "vitest";
import { APIS, BILLING, ORDERS, app, startForEachTest } from "../support/api-application.js";

startForEachTest();

const scopesOf = (url: URL) => url.searchParams.get("scope")?.split(" ") ?? [];
const login = async (query = "") =>
  new URL((await app.user.get(`/idpauth/login/${query}`)).location);

describe("a login of an application with APIs", () => {
  it("requests every resource and scope but those with consent later, and never an audience", async () => {
    const url = await login();
    expect(url.searchParams.getAll("resource")).toEqual([ORDERS, BILLING]);
    expect(scopesOf(url)).toEqual(["openid", "email", "profile", "offline_access"]);
    expect(url.searchParams.has("audience")).toBe(false);
  });

  it("requests the scopes of the APIs, each once", async () => {
    app.use({
      apis: {
        graph: { ...APIS.graph, consent: "login" },
        mail: { url: "https://mail.example/", scope: "mail.read mail.send email" },
      },
    });
    expect(scopesOf(await login())).toEqual([
      "openid",
      "email",
      "profile",
      "offline_access",
      "mail.read",
      "mail.send",
    ]);
  });

  it("keeps a resource that the settings name", async () => {
    app.use({ authorizationParams: { resource: "https://own.example.com" } });
    expect((await login()).searchParams.getAll("resource")).toEqual([
      "https://own.example.com",
      ORDERS,
      BILLING,
    ]);
  });

  it("for an API requests it, too", async () => {
    const url = await login("?api=graph");
    expect(scopesOf(url)).toContain("mail.read");
    expect(url.searchParams.getAll("resource")).toEqual([ORDERS, BILLING]);
  });

  it.each([
    "?api=unknown",
    "?api=",
    "?api=orders&api=billing",
    "?api=toString",
    "?api=orders&api=orders",
  ])("with %s is 400 with the valid names", async (query) => {
    const response = await app.user.get(`/idpauth/login/${query}`);
    expect(response.status).toBe(400);
    expect(response.body).toContain("orders, billing, graph, reports, own");
  });

  it("of an application without APIs takes no notice of `api`", async () => {
    app.use({ apis: {} });
    expect((await app.user.get("/idpauth/login/?api=orders")).status).toBe(302);
  });

  describe("after Entra ID's claims challenge", () => {
    const CHALLENGE = { access_token: { acrs: { essential: true, value: "c1" } } };
    const challenged = async (claims: unknown, error = "interaction_required") => {
      await app.user.signIn();
      app.refuse({ error, claims });
      expect(await app.failure("orders")).toMatchObject({
        code: "api_sign_in_required",
        loginUrl: "/idpauth/login/?api=orders",
      });
    };
    const claimsOf = (url: URL): unknown =>
      url.searchParams.has("claims") && JSON.parse(url.searchParams.get("claims") ?? "");

    it.each(["interaction_required", "invalid_grant"])(
      "requests these claims, in the login for this API alone (%s)",
      async (error) => {
        await challenged(JSON.stringify(CHALLENGE), error);
        expect(claimsOf(await login("?api=orders"))).toEqual(CHALLENGE);
        expect(claimsOf(await login("?api=billing"))).toBe(false);
        expect(claimsOf(await login())).toBe(false);
      },
    );

    it("also in another process over the same store, and in a pushed request", async () => {
      await challenged(JSON.stringify(CHALLENGE));
      app.application.provider.settings.pushedRequests = true;
      app.auth = app.application.another({ apis: APIS, pushedRequests: "always" });
      app.user = app.user.at(app.auth);
      await login("?api=orders");
      const [pushed] = app.application.provider.requestsTo("par");
      expect(JSON.parse(pushed?.params.get("claims") ?? "")).toEqual(CHALLENGE);
    });

    it("together with the claims that idpauth requests itself", async () => {
      app.use({ requestAuthTime: true });
      await challenged(
        JSON.stringify({ ...CHALLENGE, id_token: { xms_cc: null, auth_time: null } }),
      );
      expect(claimsOf(await login("?api=orders"))).toEqual({
        ...CHALLENGE,
        id_token: { xms_cc: null, auth_time: { essential: true } },
      });
    });

    it("no more after a sign-in, or for another user", async () => {
      await challenged(JSON.stringify(CHALLENGE));
      await app.user.signIn();
      expect(claimsOf(await login("?api=orders"))).toBe(false);
    });

    it("never from the login's address", async () => {
      await app.user.signIn();
      const asked = encodeURIComponent(JSON.stringify(CHALLENGE));
      expect(claimsOf(await login(`?api=orders&claims=${asked}`))).toBe(false);
    });

    it.each<[string, unknown]>([
      ["isn't JSON", "{"],
      ["isn't an object", '"text"'],
      ["is a list", "[]"],
      ["has members that are no objects", JSON.stringify({ access_token: "x" })],
      ["is too long", JSON.stringify({ access_token: { acrs: { value: "c".repeat(3_000) } } })],
      ["is nested too deeply", `{"a":${"[".repeat(500)}${"]".repeat(500)}}`],
      ["is no text", 7],
      ["is empty", ""],
    ])("never a challenge that %s", async (_what, claims) => {
      await challenged(claims);
      expect(claimsOf(await login("?api=orders"))).toBe(false);
    });
  });

  describe("of a session without a refresh token", () => {
    const promptOf = async (query: string) => (await login(query)).searchParams.get("prompt");

    it("requests the consent with which a provider sends one, in a login for an API with its own token", async () => {
      app.application.provider.settings.issueRefreshToken = false;
      app.use({ loginPrompt: "select_account" });
      await app.user.signIn();
      expect(await promptOf("?api=orders")).toBe("select_account consent");
      expect(await promptOf("?api=own")).toBe("select_account");
      expect(await promptOf("")).toBe("select_account");
      app.application.provider.settings.issueRefreshToken = true;
      await app.user.signIn();
      expect(await promptOf("?api=orders")).toBe("select_account");
    });
  });

  describe("at several providers", () => {
    beforeEach(() => {
      const { issuer, clientId, clientSecret } = app.application.provider;
      const staff = { name: "Staff", issuer, clientId, clientSecret };
      const providers = { staff, customers: { ...staff, name: "Customers", clientId: "another" } };
      const apis = {
        orders: { ...APIS.orders, provider: "staff" },
        graph: { ...APIS.graph, provider: "customers" },
        billing: { ...APIS.billing, consent: "later" },
      } as const;
      app.use({ apis, providers, issuer: undefined, clientId: undefined, clientSecret: undefined });
    });

    it("sends no API's parameters to another provider than the API's, and the page where the user chooses keeps `api`", async () => {
      const page = await app.user.get("/idpauth/login/?api=billing");
      const links = [...(page.body ?? "").matchAll(/href="([^"]*login\/[^"]*)"/g)].map(
        ([, href = ""]) => href.replaceAll("&amp;", "&"),
      );
      expect(links.length).toBe(2);
      const urls = await Promise.all(
        links.map(async (href) => new URL((await app.user.get(href)).location)),
      );
      expect(urls.map((url) => url.searchParams.getAll("resource"))).toEqual([
        [ORDERS, BILLING],
        [BILLING],
      ]);
    });

    it("goes to the API's provider", async () => {
      const url = await login("?api=graph");
      expect(url.searchParams.get("client_id")).toBe("another");
      expect(scopesOf(url)).toContain("mail.read");
    });

    it("is 400 if it names another provider than the API's", async () => {
      const response = await app.user.get("/idpauth/login/?provider=staff&api=graph&response=json");
      expect(response.status).toBe(400);
      expect(response.body).toContain("The API graph is for users of the provider customers.");
    });
  });
});
