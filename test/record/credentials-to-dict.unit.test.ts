import { expect, it } from "vitest";
import { credentialsToDict } from "../../src/adapter.js";

it("credentialsToDict gives the six fields", () => {
  const given = {
    token: "t",
    refreshToken: "r",
    tokenUri: "https://idp.example/token",
    clientId: "c",
    clientSecret: "s",
    scopes: ["openid", "email"],
  };
  const dict = credentialsToDict(given);
  expect(dict).toEqual({
    token: "t",
    refresh_token: "r",
    token_uri: "https://idp.example/token",
    client_id: "c",
    client_secret: "s",
    scopes: ["openid", "email"],
  });
  given.scopes.push("more");
  expect(dict.scopes).toEqual(["openid", "email"]);
});

it.each([undefined, null, ""])(
  "credentialsToDict leaves out a refresh token that is %j",
  (refreshToken) => {
    expect(
      credentialsToDict({
        token: "t",
        refreshToken,
        tokenUri: "u",
        clientId: "c",
        clientSecret: "s",
        scopes: [],
      }),
    ).toEqual({
      token: "t",
      token_uri: "u",
      client_id: "c",
      client_secret: "s",
      scopes: [],
    });
  },
);
