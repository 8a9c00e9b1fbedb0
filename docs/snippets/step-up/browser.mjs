import { createClient } from "idpauth/client";

const auth = createClient();
const form = /** @type {HTMLFormElement} */ (document.querySelector("form"));
const note = /** @type {HTMLOutputElement} */ (document.querySelector("output"));
const again = /** @type {HTMLButtonElement} */ (document.querySelector("#confirm"));

// #region browser
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const body = new FormData(form);
  const response = await auth.fetch("/api/transfer", { method: "POST", body, stepUp: true });
  note.textContent = response.ok ? "Sent." : "Not sent. Confirm that it's you, and try again.";
});
// #endregion

// #region confirm
again.addEventListener("click", async () => {
  const result = await auth.stepUp({ maxAge: 300 });
  note.textContent = result === "done" ? "Confirmed. Send the form." : `Not confirmed: ${result}.`;
});
// #endregion
