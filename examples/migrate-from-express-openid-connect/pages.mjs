const links =
  '<p><a href="/">Home</a> <a href="/account">Account</a> <a href="/orders">Orders</a> <a href="/admin">Administration</a></p>';

export const homePage = (user) =>
  user
    ? page("Home", `<p>You are ${escapeHtml(user.name)}.</p><p><a href="/logout">Sign out</a></p>`)
    : page("Home", '<p>You are signed out.</p><p><a href="/login">Sign in</a></p>');

export const accountPage = (user, { userId, theme = "light" }) =>
  page(
    "Account",
    `<p>You are ${escapeHtml(user.name)}, user ${userId}. Your theme is ${escapeHtml(theme)}.</p>` +
      '<form method="post" action="/theme"><button>Dark theme</button></form>',
  );

export const ordersPage = (orders) =>
  page("Orders", `<ul>${orders.map((order) => `<li>${escapeHtml(order)}</li>`).join("")}</ul>`);

export const adminPage = (user) =>
  page("Administration", `<p>You are ${escapeHtml(user.name)}, an administrator.</p>`);

const page = (title, body) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1>${body}${links}</html>`;

const escapeHtml = (text) =>
  String(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
