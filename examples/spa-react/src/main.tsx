import { SessionProvider } from "idpauth/react";
import { createRoot } from "react-dom/client";
import { App } from "./app";
import { auth } from "./auth";

createRoot(document.querySelector("main") ?? document.body).render(
  <SessionProvider client={auth}>
    <App />
  </SessionProvider>,
);
