import { createClient } from "idpauth/client";
import { SessionProvider } from "idpauth/react";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "./app.css";
import { App } from "./app.js";

const mountPath = document.body.dataset["mountPath"] ?? "/idpauth/";
const auth = createClient({ mountPath, events: true, onUserChange: show });
const root = createRoot(document.getElementById("app") ?? document.body);
let users = 0;

/** Renders the application anew, so that nothing of an earlier user stays on the page. */
function show() {
  users += 1;
  root.render(
    <StrictMode>
      <SessionProvider client={auth}>
        <App key={users} mountPath={mountPath} />
      </SessionProvider>
    </StrictMode>,
  );
}

show();
