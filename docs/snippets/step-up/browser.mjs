/** Sends the transfer from a page. */
export async function transfer() {
  // #region browser
  const response = await fetch("/api/transfer", { method: "POST" });
  if (response.status === 401) {
    const { login_url } = await response.json();
    location.href = `${login_url}${login_url.includes("?") ? "&" : "?"}scheme=PRESERVE_ORIGIN_QP&origin_url=${encodeURIComponent(location.href)}`;
  }
  // #endregion
}
