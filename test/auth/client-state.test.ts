import { afterEach, describe, expect, it } from "vitest";
import type { TestUser } from "../support/application.js";
import { application, pass, signedIn } from "../support/one-application.js";

const ADA = {
  email: "ada@example.com",
  name: "Ada Lovelace",
  picture: "https://pictures.example.com/ada.png",
};
/** A new one each time, because what an accessor reads is remembered for its request. */
const request = (user: TestUser) => user.request("/reports");

describe("the user of clientState", () => {
  afterEach(() => application.stop());

  it("gives email, name and picture, or null", async () => {
    const user = await signedIn({ sessionMaxAge: 600 });
    expect((await application.auth.clientState(request(user))).user).toEqual(ADA);
    expect(await application.auth.getSession(request(application.user()))).toBeNull();
    pass(601);
    expect(await application.auth.getSession(request(user))).toBeNull();
  });
});
