-- Tokens of bearer-proxy for requests that HAProxy forwards: docs/engines.md.
-- CHANGE: the listener with 'hand_out: proxies'.
local token_source = "unix@/run/bearer-proxy/tokens.sock"
-- A provider may take seconds for a first token.
local patience = 30000

local function ask(route, fields)
  fields["host"] = { "localhost" }
  return core.httpclient():get{
    url = "http://localhost/.bearer/authorize/" .. route, headers = fields, dst = token_source, timeout = patience,
  }
end

-- Sends an answer of bearer-proxy to the caller, whole.
local function pass_on(txn, answer)
  local reply = txn:reply{ status = answer.status, body = answer.body }
  for name, values in pairs(answer.headers or {}) do
    if name ~= "content-length" and name ~= "date" then
      for index = 0, #values do reply:add_header(name, values[index]) end
    end
  end
  txn:done(reply)
end

-- Adds the route's token to the request.
core.register_action("bearer", { "http-req" }, function(txn, route)
  local sent = txn.http:req_get_headers()
  -- What the caller asks for: HAProxy does not normalise paths, and one that leads elsewhere gets no token.
  local fields = { ["x-original-method"] = { txn.f:method() }, ["x-original-uri"] = { txn.f:pathq() } }
  -- Requests of browsers get no token. Remove the fields from this list if HAProxy itself decides which pages may call.
  for _, name in ipairs{ "authorization", "accept", "origin", "sec-fetch-site", "sec-fetch-mode" } do
    if sent[name] then fields[name] = { sent[name][0] } end
  end
  local answer = ask(route, fields)
  if answer.status == 200 and answer.headers["authorization"] then
    local token = answer.headers["authorization"][0]
    txn.http:req_set_header("authorization", token)
    txn:set_var("txn.bearer_token", token)
    txn:set_var("txn.bearer_route", route)
  elseif answer.status and answer.status > 0 and answer.status ~= 200 then
    pass_on(txn, answer)
  else
    txn:done(txn:reply{ status = 503 })
  end
end, 1)

-- Reports a token that the API refused: the next request carries another one.
core.register_action("bearer_refused", { "http-res" }, function(txn)
  local token, route = txn:get_var("txn.bearer_token"), txn:get_var("txn.bearer_route")
  if not token then return end
  local fields = { ["x-bearer-refused"] = { token }, ["x-bearer-status"] = { tostring(txn.f:status()) } }
  local challenges, values = txn.http:res_get_headers()["www-authenticate"], {}
  if challenges then
    for index = 0, #challenges do values[index + 1] = challenges[index] end
    fields["x-bearer-challenge"] = values
  end
  ask(route, fields)
end)
