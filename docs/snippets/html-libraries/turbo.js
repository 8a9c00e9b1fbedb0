// #region turbo
document.addEventListener("turbo:before-fetch-response", (event) => {
  const login = event.detail.fetchResponse.header("X-Idpauth-Login");
  if (login === null || !event.target.matches("turbo-frame, form")) return;
  event.preventDefault();
  const url = new URL(login, location.href);
  url.searchParams.set("scheme", "PRESERVE_ORIGIN_QP");
  url.searchParams.set("origin_url", location.href);
  location.assign(url);
});
// #endregion
