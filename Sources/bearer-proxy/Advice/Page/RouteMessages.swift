extension TroubleshootingPage {
  /// Routes and sign-in pages.
  static var routes: String {
    #"""
    ### Routes

    - `routes is empty: nothing would be forwarded`\
      `routes: []`. **Cure:** Add one.
    - `… takes the same requests as route '…' on line …; change its path, host or methods`\
      Two routes have the same host, path and methods. **Cure:** Change one of them.
    - `…: a route '…' is already on line …; choose another name`\
      Two routes have the same name. **Cure:** Choose another name.
    - `…: '…' is not a name of at most 64 letters, digits, '-', '_', '.'`\
      Names are used in logs, metrics and URLs. **Cure:** Choose a simpler name.
    - `the token of route '…' would travel in clear to …; use https:, or set allow_plaintext: true`\
      An `http:` upstream on another machine. **Cure:** Use `https:`. Use the setting only in a network where every
      machine may see the token.
    - `route '…' leads to this proxy's own listener on line …: requests would come back and be refused as a loop; name
      the API's own address`\
      The upstream has the address of one of `listeners`. **Cure:** Write the API's host and port.
    - `…: only websocket can be upgraded to, not '…'`\
      Another protocol. **Cure:** Remove it.
    - `does not begin and end with '/'`\
      A route's path consists of whole segments. **Cure:** Write `/orders/`, for example.
    - `has a character that a path contains only percent-encoded, or '%'`\
      A route's path is compared in normal form. **Cure:** Use plain characters.
    - `has an empty segment, '.' or '..'; requests are matched after those are resolved`\
      No request could match. **Cure:** Write the resolved path.
    - `belongs to the proxy's own pages under /.bearer/`\
      The proxy uses this path itself. **Cure:** Choose another path.
    - `…: CONNECT asks for a tunnel; this proxy makes none`\
      `CONNECT` under `methods`. **Cure:** Remove it.
    - `…: '…' is not a method in capital letters`\
      `get`. **Cure:** `GET`.
    - `…: '…' has a query; the caller's query is passed on instead`\
      An upstream with `?`. **Cure:** Remove the query.
    - `…: … hands out this machine's cloud credentials and is never an upstream`\
      A metadata address or name. **Cure:** Not possible: callers could take over the machine's identity.
    - `…: … hands out this machine's cloud credentials and is never a provider`\
      The same address as an authority. **Cure:** Not possible.
    - `'…' has a number as its host: write an address as four decimal numbers, or the host's name`\
      Resolvers read `2852039166`, `0xa9fea9fe` and `127.1` as IPv4 addresses, which hides where the URL leads.
      **Cure:** Write the address in its usual form, or the host's name.
    - `…: … hands out this machine's cloud credentials and is never a proxy`\
      The proxy would be a cloud's metadata service. **Cure:** Name the proxy that was meant.
    - `…: '…' is not a path without '..', blanks and fragment, such as me?$top=1`\
      `probe` is the path that `check --live` requests from the upstream. **Cure:** Write a path below the upstream's.
    - `…: '…' has '.', '..' or a needless percent-encoding in its path`\
      The upstream's path is not in normal form. **Cure:** Write it without these.
    - `… needs 'token': …`\
      The route does not say whether it adds a token. **Cure:** Write `token: none`, or whose token and for which
      scopes.
    - `…: every caller would get tokens; name the callers by unix, header or certificate`\
      `hand_out: proxies` on a listener whose callers are not named. **Cure:** Add the rule that names the proxy in
      front; `callers.bearer` names those behind it.
    - `…: the route has no token`\
      `hand_out` on a route with `token: none`. **Cure:** Remove it, or give the route a token.
    - `…: without a token there is nothing to hand out; remove when_unavailable: forward_without`\
      A proxy that asks for a token cannot be answered without one. **Cure:** Remove one of the two settings.
    - `route '…' has hand_out: proxies, and no listener has: no proxy gets its token`\
      Both must say so. **Cure:** Add `hand_out: proxies` to the listener that the proxy in front asks, or remove it.
    - `route '…' has hand_out: proxies and an outbound proxy, which the proxy in front does not use`\
      The parts that `bearer-proxy engine` writes know no outbound proxy. **Cure:** Let the proxy in front reach the
      upstream, or say there how; otherwise do not hand the route out.
    - `the listener has hand_out: proxies, and no route has: it hands out none`\
      Both must say so. **Cure:** Add `hand_out: proxies` to the routes, or remove it.
    - `…: not every proxy can copy the field '…': its name has more than letters, digits and '-'`\
      `hand_out` on a route whose `token` has a `header` with another character. **Cure:** Remove `hand_out`.
    - `… needs 'header', the name of the field`\
      `value` or `value_file` under `token` without `header`. **Cure:** Name the field.
    - `… has no meaning beside '…'`\
      `token` has an API's key or a password, which no provider gives. **Cure:** Remove what concerns tokens.
    - `… has no meaning beside '…': no provider gives that credential`\
      `application` on such a route. **Cure:** Remove it.
    - `…: '…' has another meaning already; an API's key is in Authorization or in a field of its own, such as
      X-API-Key`\
      `header` names a field on which framing, identity or the path depends. **Cure:** Name the API's own field.
    - `…: the value of '…' is … to … ASCII characters without a blank at an end`\
      Response fields that repeat the value are removed, so a short one is refused. **Cure:** Is it the whole key?
    - `…: Basic credentials are a user name without ':' and a password, both without control characters, together at
      most 3000 bytes (RFC 7617)`\
      Servers would read others differently. **Cure:** Correct `username`, or the password's file.
    - `…: the route has no token of its own that a file could have`\
      `token_file` on a route without a token, with a key, or with callers' tokens. **Cure:** Remove it.
    - `… is the token file of route '…' already`\
      Two routes would write one file. **Cure:** Name another file.
    - `… is not in memory, and would keep tokens that are removed: take a directory on tmpfs, such as below /run, or set
      allow_disk: true`\
      A removed file can be read from its medium for a long time. **Cure:** Use a directory on tmpfs; in a container,
      mount one (`--tmpfs`, `emptyDir: {medium: Memory}`).
    - `… is not in memory: tokens stay on the medium after they are removed`\
      A warning: `allow_disk: true` is set. **Cure:** None, if that is meant.
    - `… needs 'set' or 'remove'`\
      `request_headers` is empty. **Cure:** Add one, or remove the section.
    - `…: '…' is not for a route to set or remove: framing, identity, path or the proxy itself depend on it`\
      Such as `Host`, `Content-Length`, `Connection`, `Authorization`, `Cookie`, `Via`, `X-Forwarded-…`, `X-Bearer-…`.
      **Cure:** Remove it. A credential is in the route's `token`.
    - `…: '…' is the field of the route's 'token'`\
      `request_headers` names it, too. **Cure:** Remove it there.
    - `'…' and '…' are one field to most programs; keep one`\
      Two names under `request_headers` differ by letter case, or by `_` for `-`. **Cure:** Remove one.
    - `has more than … names`\
      `request_headers` is bounded. **Cure:** Remove some.
    - `sets more than … bytes`\
      `request_headers` is bounded. **Cure:** Shorten values, or remove some.
    - `the value of '…' has a character that is not ASCII, or a blank at an end`\
      Servers read such values differently. **Cure:** Correct it.
    - `… has no meaning on a route with token: none`\
      The setting concerns tokens. **Cure:** Remove it, or give the route a token.
    - `… is …, not '…'`\
      `token` is a word other than `none`. **Cure:** Use one of the listed forms.
    - `… needs 'application': whose token it is`\
      The route has a token and no application. **Cure:** Add `application: NAME`.
    - `…: there is no application '…'`\
      `applications` has no such name. **Cure:** Correct one of the two.
    - `… has no meaning with as: application: that token is no person's`\
      `account` beside `as: application`. **Cure:** Remove one.
    - `… has no meaning with as: …: no person signs in for it`\
      `on_interaction_required` beside `as: application`, `as: agent` or `as: caller`. **Cure:** Remove it.
    - `… has no meaning with as: caller: the token is the caller's`\
      `account` beside `as: caller`. **Cure:** Remove one.
    - `… has a meaning with as: caller only`\
      A key about the exchange of callers' tokens, on a route that adds another token. **Cure:** Remove it, or write
      `as: caller`.
    - `… has no meaning with grant: …`\
      The grant of the route takes no such parameter. **Cure:** Remove the key, or choose the grant that takes it.
    - `…: … (Azure AD B2C) exchanges no tokens of callers`\
      Azure AD B2C has no on-behalf-of. **Cure:** Use another provider, or `as: application` if the API needs no person.
    - `…: application '…' has no credential (client_secret_file, client_assertion_file, credential), which as: caller
      needs`\
      Only an application that proves itself may exchange tokens. **Cure:** Give it a credential.
    - `…: '…' is a managed identity, which exchanges no tokens of callers`\
      The machine's service hands out the identity's own tokens alone. **Cure:** Name an application with an authority.
    - `…: '…' is no token for an API: write … or …, or leave it out`\
      `requested_token_type` asks for something that no API takes, such as an ID token. **Cure:** As it says.
    - `…: '…' is no name for a field of your own, such as X-Account`\
      `choice.field` is no field name, or one with another meaning. **Cure:** Choose another name.
    - `… has a meaning with as: account and as: agent only`\
      An entry of `choice` names an account on a route that adds no account's token. **Cure:** Name scopes, or remove
      it.
    - `… has a meaning with as: agent and as: caller only`\
      `agent` on a route whose token is no agent's. **Cure:** Remove it, or write `as: agent`.
    - `… is the client id of an agent identity, a GUID, not '…'`\
      `agent` has a name or an object id's spelling. **Cure:** Copy the agent's client id (app id) from the portal.
    - `…: an agent's user is named by its user name, USER@DOMAIN, or its object id, not '…'`\
      `account` beside `as: agent`. **Cure:** Write one of the two.
    - `…: application '…' has no credential (client_secret_file, client_assertion_file, credential), which an agent
      needs`\
      The blueprint's credential proves its agents. **Cure:** Give the application one.
    - `…: '…' is a managed identity, and agents are those of an application, which 'credential: {federated:
      {managed_identity: …}}' can prove`\
      A managed identity is no blueprint. **Cure:** Name the blueprint as the application, with the managed identity as
      its federated credential.
    - `…: an agent is of one tenant, and the authority … names none: name one in 'tenant'`\
      The blueprint's authority is `organizations` or `common`. **Cure:** Write the agent's tenant.
    - `…: … has no agent identities; Microsoft Entra has`\
      `agent` at another provider. **Cure:** Use `as: application`.
    - `… says nothing else than the route: name an account, an agent, a tenant or scopes`\
      An entry of `choice` is empty. **Cure:** As it says.
    - `… is a URI such as …, not '…'`\
      Kinds of tokens are named by URIs (RFC 8693 section 3). **Cure:** Write the whole name.
    - `…: '…' has to be the application at the authorization server of the API, which is another one than …`\
      With `grant: id_jag`, the second request goes to the API's own authorization server. **Cure:** Name an application
      whose `authority` is that server.
    - `route '…' exchanges its callers' tokens (as: caller), and the listener … on line … demands none: set 'callers:
      {bearer: …}' there`\
      Without `callers.bearer` there is no token that could be exchanged. **Cure:** Set the rule on every listener that
      accepts the route's host, or give the route a `host` that the listener does not accept.
    - `… is account, agent, application or caller, not '…'`\
      `as` has another word. **Cure:** Use one of the four.
    - `…: '…' is not one scope (no blanks, quotes, backslashes): write [a, b]`\
      One string contains several scopes. **Cure:** Write a list: `[User.Read, Mail.Read]`.
    - `… is for Azure CLI's client_id alone (…), without a secret`\
      Another application has `family_tokens`. **Cure:** Remove it.
    - `…: false contradicts 'family_tokens', which are refresh tokens`\
      Tokens of Azure CLI's family are refresh tokens, which `offline_access: false` rules out. **Cure:** Keep one of
      both.
    - `… is for Microsoft Entra's hosts; … has no regions`\
      `azure_region` at another provider, or at an authority that names a region itself. **Cure:** Remove it, or write
      the global host, such as `https://login.microsoftonline.com/TENANT`.
    - `… needs a credential: regions serve an application's own tokens alone`\
      `azure_region` of a public client. **Cure:** Remove it.
    - `… is auto or a region such as westeurope, not '…'`\
      A region is one word of small letters, digits and hyphens. **Cure:** Use its name as `az account list-locations`
      shows it.
    - `… is for Microsoft's providers; … knows no domain_hint`\
      `domain_hint` at an OpenID Connect issuer. **Cure:** Remove it.
    - `… is a domain such as contoso.com, organizations or consumers, not '…'`\
      A hint has letters, digits, `-`, `.` and `_`. **Cure:** Write the domain alone, without `@` and scheme.
    - `… has more than … claims`\
      A certificate's `claims`. **Cure:** Keep those that the provider's policy reads.
    - `…: a claim's name has 1 to 64 bytes`\
      The name is empty, too long, or has a control character. **Cure:** Use the name that the provider expects.
    - `….…: each assertion has a value of its own for it; leave it out`\
      A fixed `iss`, `sub`, `aud`, `exp`, `iat`, `nbf` or `jti` would make the assertion one for another application or
      provider, without an end, or for many uses. **Cure:** Remove it; `audience` chooses whom it is for.
    - `….… has more than 1024 bytes`\
      The value of a claim. **Cure:** Use a shorter one.
    - `…: application '…' has no credential (client_secret_file, client_assertion_file, credential), which as:
      application needs`\
      A public client cannot request tokens for itself. **Cure:** Give it a credential, or use `as: account`.
    - `'…' is asked for with every sign-in and is no API's scope; leave it out`\
      `openid`, `profile`, `offline_access`. **Cure:** Remove it.
    - `…: '…' is asked for with every sign-in and is no API's scope`\
      The same, in `scopes_on_challenge`. **Cure:** Remove it.
    - `… takes '…' alone, without other scopes`\
      `/.default` is combined with other scopes. **Cure:** Keep one or the other.
    - `a token is for one API, not for both … and …; give each a route of its own`\
      The scopes belong to two APIs. **Cure:** Use two routes.
    - `name at least one scope: … gives a token for one API`\
      No scope says which API. **Cure:** Add one scope of the API.
    - `… gives an application a token for exactly one '<resource>/.default', not for … scopes`\
      Entra gives applications the permissions that an administrator consented to. **Cure:** For example
      `["api://orders/.default"]`.
    - `… gives an application a token for '<resource>/.default' only, not for '…'`\
      The scope is a single permission, as for people. **Cure:** Use the resource's `/.default`.
    - `the tokens of application '…' are bound to its certificate (bound_tokens), which only https: can show`\
      A route leads such tokens to an `http:` upstream. **Cure:** Use the upstream's `https:` address.
    - `…: application '…' has bound_tokens, so the upstream is shown its certificate; remove this one`\
      The route has a `tls.certificate_file` of its own. **Cure:** Remove it, or give the route an application without
      `bound_tokens`.
    - `the authority … names no tenant, so it has no tokens for an application itself: name one in 'tenant'`\
      The authority is `organizations` or `common`. **Cure:** Use the tenant's own authority, or name the tenant at the
      route.
    - `… is shorter than …, which includes it`\
      `shutdown.limit` is below `shutdown.delay`. **Cure:** Choose a longer limit or a shorter delay.

    ### Sign-in pages

    - `… needs a public_url: by which address browsers reach … cannot be told from it`\
      Browsers reach the listener of the sign-in pages by another address. **Cure:** Set `public_url: https://NAME`, as
      browsers see it.
    - `…: '…' has a path; write scheme and host alone`\
      `public_url` has a path, and pages and metadata have their places at the host's root. **Cure:** Remove the path.
    - `…: no browser brings what callers.… demands; give the pages a listener of their own, or the public_url of a
      proxy in front that adds it`\
      The listener of the sign-in pages demands a field from callers. **Cure:** Use another listener with `sign_in`, on
      loopback or with `callers.certificate`. Or set the `public_url` of a proxy in front that adds the field.
    - `… is between … and …`\
      The limit of the sign-in pages is too short or too long. **Cure:** Choose a time in the range.
    - `…: '…' is not https`\
      The sign-in would use plain HTTP beyond this machine. **Cure:** Use `https:`.
    """#
  }
}
