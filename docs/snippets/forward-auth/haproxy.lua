-- Asks the Node.js app who the user is. HAProxy's rules read `txn.check` and `txn.user`.
core.register_action("forward_auth", { "http-req" }, function(txn)
  local sent = txn.http:req_get_headers()
  local response = core.httpclient():get({
    url = "http://127.0.0.1:3000/auth/check",
    headers = {
      host = sent["host"],
      cookie = sent["cookie"],
      ["x-forwarded-for"] = sent["x-forwarded-for"],
      ["x-forwarded-host"] = sent["x-forwarded-host"],
      ["x-forwarded-proto"] = sent["x-forwarded-proto"],
      accept = { "application/json" },
      ["sec-fetch-mode"] = { "cors" },
      ["sec-fetch-dest"] = { "empty" },
    },
    timeout = 40000, -- ms
  })
  local user = response.headers and response.headers["x-user"]
  txn:set_var("txn.check", response.status)
  txn:set_var("txn.user", user and user[0] or "")
end)
