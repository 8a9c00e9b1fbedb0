// The page knows no tokens: it sends requests to its own origin.
async function show() {
  const probe = await fetch("/idpauth/session?details=true");
  const { user } = await probe.json();
  document.querySelector("#user").textContent = user ? `Hello ${user.name}.` : "Signed out.";
  for (const line of document.querySelectorAll("li")) {
    const response = await fetch(`/api/${line.id}/`);
    line.textContent = `${line.id}: ${response.status} ${await response.text()}`;
  }
}

document.querySelector("#order").addEventListener("click", async () => {
  const body = JSON.stringify({ text: "Paper" });
  const headers = { "Content-Type": "application/json" };
  await fetch("/api/orders/", { method: "POST", headers, body });
  await show();
});
document.querySelector("#reload").addEventListener("click", show);
await show();
