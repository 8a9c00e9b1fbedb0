/// <reference types="cypress" />

it("the provider signs the user in; an outage is 503, and then idpauth refreshes the session", () => {
  cy.visit("/idpauth/login/"); // returns to a page of idpauth, because `visit` loads no JSON
  cy.contains("ada@example.com"); // the default user
  cy.task("outage");
  cy.request({ url: "/reports", failOnStatusCode: false }).its("status").should("equal", 503);
  cy.task("recovery");
  cy.request("/reports").its("status").should("equal", 200);
});

it("a test starts with a signed-in user", () => {
  cy.task("signedInCookie", { email: "grace@example.com" }).then(({ name, value }) => {
    cy.setCookie(name, value, { httpOnly: true });
  });
  cy.request("/reports").its("body").should("deep.equal", { for: "grace@example.com" });
});
