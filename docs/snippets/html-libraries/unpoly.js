// #region unpoly
up.on("up:fragment:loaded", (event) => {
  const { request, response } = event;
  if (response.isHTML()) return;
  const login = response.header("X-Idpauth-Login");
  if (request.method === "GET") {
    event.preventDefault();
    request.loadPage();
  } else if (login !== null) {
    event.preventDefault();
    const url = new URL(login, location.href);
    url.searchParams.set("scheme", "PRESERVE_ORIGIN_QP");
    url.searchParams.set("origin_url", location.href);
    location.assign(url);
  }
});
// #endregion
