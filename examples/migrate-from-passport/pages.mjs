const links =
  '<p><a href="/">Home</a> <a href="/account">Account</a> <a href="/orders">Orders</a></p>';

export const homePage = (user, cart = []) =>
  page(
    "Home",
    `<p>${
      user
        ? `You are ${escapeHtml(user.name)}. <a href="/logout">Sign out</a>`
        : 'You are signed out. <a href="/login">Sign in</a>'
    }</p>
    <p>Your cart: ${escapeHtml(cart.join(", ") || "empty")}</p>
    <form method="post" action="/cart"><button>Add tea</button></form>`,
  );

export const accountPage = (user) =>
  page("Account", `<p>You are ${escapeHtml(user.name)}, user ${user.id}.</p>`);

export const ordersPage = (orders) =>
  page("Orders", `<ul>${orders.map((order) => `<li>${escapeHtml(order)}</li>`).join("")}</ul>`);

const page = (title, body) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1>${body}${links}</html>`;

const escapeHtml = (text) =>
  String(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
