import express from "express";
import { idpAuth } from "idpauth/express";

// #region label
const auth = idpAuth({
  sessionsPage: true, // or IDP_SESSIONS_PAGE=on
  sessionLabel(request) {
    const agent = request.header("user-agent") ?? "";
    const browsers = ["Edg", "Firefox", "Chrome", "Safari"]; // Edge's header also contains Chrome
    const systems = ["iPhone", "iPad", "Android", "Windows", "Mac", "Linux"];
    const browser = browsers.find((name) => agent.includes(name))?.replace("Edg", "Edge");
    const system = systems.find((name) => agent.includes(name));
    return browser && system && `${browser} on ${system}`;
  },
});
// #endregion

export const app = express();
auth.mount(app);

// #region everywhere
app.get("/account", auth.idpRequired, (req, res) => {
  res.send(`<form method="post" action="/idpauth/sessions">
    <button name="end" value="all">Sign out everywhere</button>
  </form>`);
});
// #endregion
