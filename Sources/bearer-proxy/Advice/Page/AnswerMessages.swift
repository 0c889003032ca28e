import Tokens

extension TroubleshootingPage {
  /// Upstreams, and answers to callers.
  static var answers: String {
    #"""
    ## Upstreams

    These reasons end `No connection to the upstream: …` and messages about a Redis server or a provider behind a proxy.

    Another reason is the system's, such as `Connection refused`: \#(UpstreamCure.refused.page)

    - `the name does not resolve: …`\
      The name of the upstream or of the outbound proxy is unknown here. **Cure:** \#(UpstreamCure.host.page) Behind a
      corporate proxy, set `HTTPS_PROXY` and not `NO_PROXY`. For a cache: \#(CacheCure.host.page)
    - `the name resolves to a link-local or metadata address, which is refused`\
      DNS leads to a cloud's credentials. **Cure:** \#(UpstreamCure.forbiddenAddress.page) Correct the DNS entry.
    - `no connection within the time limit`\
      Packets are dropped, or the machine is overloaded. **Cure:** \#(UpstreamCure.firewall.page) For a cache:
      \#(CacheCure.firewall.page) In a handshake: \#(CacheCure.noTLS.page)
    - `connection reset by peer`\
      The other side rejects the handshake, often because it demands a client certificate. **Cure:**
      \#(TLSCure.clientCertificate.page)
    - `connection closed during the handshake`\
      The port does not use TLS, or only old versions. **Cure:** \#(TLSCure.notTLS.page)
      \#(TLSCure.nothingInCommon.page)
    - `it does not offer HTTP/2 (ALPN), which the route's protocol demands`\
      The route has `protocol: http2`. **Cure:** \#(UpstreamCure.withoutHTTP2.page)
    - `it announces no WebSockets over HTTP/2 (RFC 8441), and the route's protocol is http2`\
      A caller asked for a WebSocket. **Cure:** \#(UpstreamCure.withoutWebSockets.page)
    - `the proxy on the way there: …`\
      The outbound proxy cannot be reached. **Cure:** \#(ProviderCure.proxy.page)
    - `the proxy on the way there …`\
      The outbound proxy answered, but made no tunnel. **Cure:** \#(ProviderCure.proxy.page) See the next four entries.
    - `wants a user and a password, or others (407)`\
      The outbound proxy's credential is missing or wrong. Basic is the only supported scheme. **Cure:** Use
      `http://${PROXY_LOGIN}@host:port`.
    - `makes no tunnel there (…)`\
      403: its rules do not allow it. 502, 503, 504: it cannot reach the host itself. **Cure:** Ask the outbound proxy's
      operator.
    - `closed the connection`\
      The outbound proxy closed it. **Cure:** See its log.
    - `does not answer as an HTTP proxy`\
      Another service uses that port. **Cure:** Check host and port.

    ### TLS

    `check --live` explains the reason of a handshake that failed, with a provider or an upstream.

    - `certificate has expired`\
      The other side's certificate has ended. **Cure:** \#(TLSCure.expired.page)
    - `certificate is not yet valid`\
      The other side's certificate begins in the future. **Cure:** \#(TLSCure.notYetValid.page)
    - `hostname mismatch`\
      The certificate is for another name. **Cure:** A provider's: \#(TLSCure.providerName.page) An upstream's:
      \#(TLSCure.serverName.page)
    - `unable to get local issuer certificate`\
      The certificate is from an authority that is not trusted here. **Cure:** \#(TLSCure.authority.page) If one is
      named already: \#(TLSCure.authorityInFile.page) A cache's: \#(CacheCure.authority.page)

    For any other reason: \#(TLSCure.provider.page) \#(TLSCure.upstream.page)

    ### Answers to a probe

    `check --live` requests `probe` of the route, with its token, and asks a gRPC server for its health.

    - `the upstream gave no answer: …`\
      The connection is there, and no acceptable answer came. **Cure:** \#(UpstreamCure.http2.page)
      \#(UpstreamCure.protocolOrTLS.page) After the time limit: \#(UpstreamCure.responseTime.page) With TLS:
      \#(UpstreamCure.https.page) \#(TLSCure.upstreamName.page) Else: \#(UpstreamCure.passed.page)
    - `400`\
      The upstream does not accept the request. **Cure:** \#(UpstreamCure.plaintext.page)
    - `401`\
      The upstream does not accept the caller. **Cure:** Without a token: \#(UpstreamCure.noToken.page) With one:
      \#(UpstreamCure.audience.page) With a key or password: \#(UpstreamCure.fixedField.page)
    - `403`\
      The upstream knows the caller, and denies the request. **Cure:** \#(UpstreamCure.scope.page)
    - `404`\
      Also 405 and 410. **Cure:** \#(UpstreamCure.path.page)
    - `429`\
      There were too many requests. **Cure:** \#(UpstreamCure.pause.page)
    - `500`\
      Also every higher status. **Cure:** \#(UpstreamCure.trouble.page)
    - `NOT_SERVING`\
      Also UNKNOWN: a gRPC server answers `grpc.health.v1.Health/Check` so. **Cure:** \#(UpstreamCure.health.page)

    For any other status: \#(UpstreamCure.unknownStatus.page)

    ## Answers to callers

    - `The length of the content cannot be told: ….`\
      The request has two lengths, or an invalid one, and could be read in two ways. **Cure:** Correct the calling
      program.
    - `The path is ambiguous: ….`\
      Two servers could read the path differently. **Cure:** Correct the calling program. For `%5C`, `%25xx`, `%09`,
      `%0A` and `%0D` that the API needs, use the route's `encoded_path`.
    - `CONNECT and TRACE are not forwarded.`\
      The application uses bearer-proxy as an outbound proxy. **Cure:** Call routes by their paths; do not set
      `HTTP_PROXY` to it.
    - `No WebSocket can be opened at this address.`\
      An extended `CONNECT` of HTTP/2. **Cure:** If the route is to have WebSockets, set its `upgrade: [websocket]`.
    - `The target * names no route.`\
      The request is `OPTIONS *`. **Cure:** Request a path.
    - `The request target is an https address, and this listener has no TLS.`\
      The app sends `GET https://…` to a plain listener. **Cure:** `http://…`, the path alone, or `tls` at the listener.
    - `Max-Forwards is not one decimal number.`\
      The hops of an `OPTIONS` request cannot be counted. **Cure:** Send one `Max-Forwards` with digits only.
    - `grpc-timeout is not a number of at most 8 digits and a unit.`\
      A gRPC client's library, or a proxy before this one, writes the field in another form, or twice. **Cure:** Correct
      it; the units are H, M, S, m, u and n.
    - `The request has passed this proxy before: Via or CDN-Loop names it. An upstream leads back here.`\
      A route's upstream, or something behind it, sends requests to this proxy. **Cure:** Use the API's own address as
      `upstream`.
    - `The request has no field but its Host, and too many like it are in progress, as if an upstream led back here.`\
      A proxy behind a route sends requests back here and removes every field (nginx: `proxy_pass_request_headers off`),
      or a program without fields sends more than 1000 requests at once. **Cure:** Use the API's own address as
      `upstream`; let the program send a `User-Agent`.
    - `Only 'Expect: 100-continue' is supported.`\
      The request has another expectation. **Cure:** Correct the calling program.
    - `The Host field names no host of this listener. Call it by its address, or add the name under 'hosts'.`\
      The application calls the listener by an unknown name. **Cure:** Add `hosts: [NAME]` to the listener.
    - `A browser says that another site is behind this request.`\
      A page of another site calls. **Cure:** If that is intended, use `callers.origins`.
    - `A browser does not say that a person opened this address, or which page is behind the request. It does where the
      listener is called as localhost or over TLS.`\
      A person typed the address, or a page sent no referrer, at a name that browsers reach over plain HTTP. Or the
      browser asks by itself, for an address that a server of another site names: as the issuer of its certificate, a
      revocation service, a proxy's script, a payment method. Or a browser extension or an Electron application calls,
      which look the same. **Cure:** People call the listener as `localhost`, or give it `tls`. Programs that look like
      a browser (an extension, Electron, `Mozilla/` as their name) use `callers.header`.
    - `A browser fetches this ahead of time, and not for a page of this listener's own.`\
      A page lists the address in speculation rules or as a prefetch. **Cure:** Nothing: the browser asks again when a
      person follows the link.
    - `A service worker would answer for every route of this listener, so the script of one is not served.`\
      A page of an upstream installs a service worker. **Cure:** If an application needs one, serve it without the
      proxy, and let it call the proxy (`callers.origins`).
    - `The calling process runs as none of the users and groups in callers.unix of this listener.`\
      The process runs as another user. **Cure:** Add its number if it may call.
    - `The caller's certificate has none of the subjects in callers.certificate of this listener.`\
      The certificate is of the right authority, for another subject. **Cure:** Add the subject if it may call.
    - `The field that callers.header of this listener demands is missing, repeated, or has another value.`\
      The application does not send the secret. **Cure:** Configure the secret there.
    - `This listener demands a bearer token of the caller's own; callers.bearer says whose and for which audience.`\
      The caller sent no token, or one that fails a check (`error="invalid_token"` in `WWW-Authenticate`). With `log:
      {level: debug}`, the event `caller's token refused` has the `reason`. **Cure:** Send a new token of the issuer,
      for the audience.
    - `The caller's token lacks scopes that callers.bearer of this listener demands; WWW-Authenticate names all.`\
      The token is the issuer's and for this listener, but not for all of `scopes`. **Cure:** Have the client request
      them, and the person or administrator consent.
    - `The keys of the authority in callers.bearer of this listener cannot be had now, so no token can be checked.`\
      The issuer of callers' tokens is unreachable. **Cure:** See [identity provider](#identity-provider).
    - `This route adds a token of its own and takes no Authorization field from callers (existing: reject).`\
      The application sends `Authorization`. **Cure:** Stop that, or use `existing: replace`.
    - `Tokens are handed out to engines, and this request has a browser's field (Origin or Sec-Fetch-…). An engine that
      vouches for the browser removes them.`\
      The proxy in front passes a browser's fields on with its question. **Cure:** If only pages that you trust call it,
      remove these fields there, as [docs/engines.md](../docs/engines.md) does.
    - `A request for a token has no content.`\
      The proxy in front sends its caller's content along. **Cure:** Turn that off (nginx:
      `proxy_pass_request_body off`).
    - `The call has a message that is not its method's, or is compressed.`\
      Envoy, or what calls in its name, sends another message to `Authorization/Check`, or to
      `ExternalProcessor/Process`. **Cure:** Use `transport_api_version: V3`, and no compression for this cluster.
    - `Without a route in its path, a request for a token has the fields X-Forwarded-Method, -Uri and -Host, or
      X-Original-Method and -URI, each once, and not both kinds.`\
      The proxy in front does not describe its request, or a caller sent the other kind. **Cure:** Name the route in the
      path, or set the one kind and remove the other.
    - `X-Bearer-Refused is one Authorization field with a Bearer token, X-Bearer-Status is 401 or 403,
      X-Bearer-Unavailable is a status from 400 up, and X-Bearer-Answer is 'refusal'; each occurs once.`\
      The proxy in front reports a refusal in another form. **Cure:** Compare it with
      [docs/engines.md](../docs/engines.md).
    - `The request that the engine describes is not one for this route: its path is ambiguous, or leads to another
      route, or the method is not the route's.`\
      The proxy in front took a request for this route that bearer-proxy would not take: `/orders/..;/x`, for example.
      **Cure:** For an honest caller, see `encoded_path` and `methods`, or correct the route that is asked for.
    - `There was no token when the request came, and there is one now. Repeat the request.`\
      The proxy in front asked twice, and the provider answered in between. **Cure:** None is needed.
    - `The tokens of this route are not handed out: it lacks 'hand_out: proxies', or adds no token.`\
      A proxy in front asked for it. **Cure:** Add `hand_out: proxies` to the route.
    - `The API refused the token, and no other one can be had without a person. WWW-Authenticate is the API's.`\
      The proxy in front reported the refusal. **Cure:** As for [a refused
      token](../config/reference.md#when-the-upstream-rejects-the-token).
    - `No route has this host and path. The proxy's configuration lists the routes.`\
      The path is misspelled, or has no route. **Cure:** Check the paths under `routes`.
    - `The route does not take this method, or the one that a field such as X-HTTP-Method-Override asks for; see
      Allow.`\
      The route's `methods` do not include it; such fields are limited, too. **Cure:** Add the method, or remove the
      field from the request.
    - `The request head did not arrive in time.`\
      The caller is slow or silent. **Cure:** Raise `timeouts.request_head`.
    - `The request's content arrived too slowly.`\
      The caller sends too little: a poor connection, or an attempt to occupy connections. **Cure:** Lower
      `limits.caller_rate`, in bytes per second.
    - `The request's content stopped arriving.`\
      The caller stalled. **Cure:** Raise `timeouts.idle`.
    - `The request's content is longer than the limit.`\
      The content is longer than `limits.body_bytes`. **Cure:** Raise it.
    - `The request ended before its content was complete.`\
      The caller disconnected, or its length is wrong. **Cure:** Correct the calling program.
    - `The chunked coding of the request's content is broken.`\
      The caller's chunks are invalid. **Cure:** Correct the calling program.
    - `The upstream did not accept a connection in time.`\
      Packets are dropped, or the upstream is overloaded. **Cure:** Check the network and `timeouts.connect`.
    - `No connection to the upstream: ….`\
      The reason follows. **Cure:** See [upstreams](#upstreams).
    - `The upstream closed the connection before it had answered.`\
      The upstream restarted, or crashed because of the request. **Cure:** See its log.
    - `The upstream's answer is not acceptable HTTP.`\
      For example two lengths, a bare line feed, or an unrequested protocol switch. The access record's `reason` says
      which. **Cure:** Correct the upstream.
    - `The upstream did not answer in time.`\
      The upstream is slower than `timeouts.response_head`, or stalled for `timeouts.idle`. **Cure:** Raise the limit,
      or repair the upstream.
    - `The exchange took longer than the route, or the call's deadline, allows.`\
      The exchange exceeded `timeouts.exchange`, or the time that a gRPC client set. **Cure:** Raise it.
    - `The request target is longer than the limit.`\
      The target is longer than `limits.target_bytes`. **Cure:** Raise it.
    - `The request head is longer, or has more fields, than the limits.`\
      The head exceeds `limits.head_bytes` or `limits.field_count`. **Cure:** Raise them.
    - `Only HTTP/1.1 and HTTP/1.0 are spoken here.`\
      The caller uses HTTP/2 or another protocol. **Cure:** Use HTTP/1.1.
    - `The request head is not acceptable HTTP/1.1: ….`\
      The head has a mistake that could hide a second request. **Cure:** Correct the calling program.
    - `The identity provider did not give a token for this route. Try again later; the log says what it answered.`\
      The provider is unreachable or has an error. **Cure:** See the log's `detail` and [identity
      provider](#identity-provider).
    - `The identity provider refuses the application of this route (…). Its configuration or credential must be mended;
      the log has the provider's codes.`\
      `invalid_client`: a wrong or expired secret. `invalid_scope`: no such scope. `unauthorized_client`: this grant is
      not allowed. **Cure:** Correct the application's registration, then reload.
    - `The document at the authority of this route's application is not the metadata of that authority.`\
      The authority is wrong, or another server answers in its place. **Cure:** See [identity
      provider](#identity-provider).
    - `The proxy cannot read its token cache, so it does not know who is signed in. Try again later; the log says why.`\
      The Redis server is unreachable, or the cache file is damaged or unreadable for this user. **Cure:** See [cache at
      work](#cache-at-work).
    - `The identity provider wants the person behind the caller's token to prove more. Request a token for this proxy
      with the claims of the challenge, and send the request again with it.`\
      Conditional Access, or a revoked session. **Cure:** The calling program requests its own token again, with the
      `claims` of `WWW-Authenticate` (MSAL: `claims_challenge`).
    - `The application of this route may not ask for these scopes in the caller's name: the person, or an administrator,
      has to consent first.`\
      The document's `scopes` lack consent. **Cure:** An administrator opens the document's `admin_consent`, or the
      program asks the person for consent to the proxy's application.
    - `The identity provider does not take the caller's token in exchange, or the token has ended. Request another one
      for this proxy.`\
      The token has ended, is for another application, or its session is over. **Cure:** The calling program requests
      another token. If each one is refused: are `audiences` of `callers.bearer` this application's, and may it exchange
      tokens at the provider? The log has the provider's words (`caller's token not exchanged`).
    - `The rules of the identity provider do not allow this caller a token for this route.`\
      `access_denied`: a policy of the provider. **Cure:** Change the policy, or nothing.
    - `The request repeats the field by which this route lets callers pick a token, or it has a value that the route
      does not list.`\
      The program asks for something that `choice` of the route does not list. **Cure:** Correct the program, or add the
      value under `choice`.
    - `The account of this route is not signed in.`\
      The person has not signed in yet, or was signed out. **Cure:** \#(signIn(.noAccount))
    - `Several accounts are signed in, and this route names none.`\
      The route has no `account`. **Cure:** \#(signIn(.accountAmbiguous))
    - `The account of this route has nothing left to get a token with.`\
      The refresh token was removed or revoked. **Cure:** \#(signIn(.noTokens))
    - `The identity provider answered for another person than the account of this route.`\
      The response contained another person's tokens; none was used. **Cure:** \#(signIn(.userMismatch)) If it happens
      again, ask the provider's operator.
    - `The account of this route has not consented to what the route needs.`\
      The route needs new scopes, or consent was withdrawn. **Cure:** \#(signIn(.consentRequired)) Or have an
      administrator consent.
    - `The password of this route's account has to be changed.`\
      The password expired. **Cure:** Have the person change it. \#(signIn(.passwordExpired))
    - `The identity provider wants the account of this route to prove more, such as a second factor.`\
      A policy demands it. **Cure:** \#(signIn(.basicAction))
    - `The identity provider wants something done outside the sign-in first, such as enrolling a device.`\
      A policy of the directory demands it. **Cure:** \#(signIn(.additionalAction))
    - `The identity provider has a message for the account of this route.`\
      The provider has a message for the person. **Cure:** \#(signIn(.messageOnly))
    - `A device policy keeps the account of this route out; signing in alone does not change that.`\
      An Intune protection policy applies. **Cure:** \#(signIn(.protectionPolicyRequired))
    - `The account of this route has to sign in again.`\
      The sign-in is too old, or was revoked. **Cure:** \#(signIn(.signInRequired))
    - `Name one under the route's 'token'.`\
      This ends a sentence above. **Cure:** `token: {account: …}`.
    - `Use an account or a device that satisfies the policy.`\
      This ends a sentence above. **Cure:** Name another account as `account` of the route, or have the device managed.
    - `Sign in, and come back here.`\
      This ends a sentence above. **Cure:** Use the page's button.
    - `The operator signs in with 'bearer-proxy login…'; no restart is needed.`\
      This ends a sentence above. **Cure:** Run that command.
    - `The operator has to ….`\
      This ends a sentence above, if tokens are kept in memory, where `login` cannot put any. **Cure:** Set `cache:
      {file: PATH}`, restart the proxy, then run `bearer-proxy login --route NAME`; or set `sign_in: true` on a
      listener.

    ### A caller's token

    The `reason` of the event `caller's token refused`, with `log: {level: debug}`. No answer has it.

    - `it is opaque: a JWT has three parts`\
      The issuer gives tokens that only it can read, or the caller sent another text. **Cure:** Have the issuer give
      JWTs for this audience.
    - `it is longer than 64 KiB`\
      It is no token. **Cure:** Correct the calling program.
    - `its … is not base64url`\
      The token was cut or changed on the way. **Cure:** Send it as the issuer gave it.
    - `its … is not the JSON object of a JWT`\
      The token was changed, or is encrypted. **Cure:** Have the issuer give signed tokens.
    - `its algorithm … is not RS256 or PS256`\
      The issuer signs in another way. **Cure:** Change the issuer's settings for this audience.
    - `its header demands an extension (crit)`\
      The token demands what is not known here. **Cure:** Change the issuer's settings for this audience.
    - `its key … is none of the issuer's`\
      The token is another issuer's, or the keys were changed a moment ago. **Cure:** Request a new token; check
      `authority` of `callers.bearer`.
    - `its signature is not the issuer's, or the key is another issuer's`\
      The token is forged, damaged or another issuer's. **Cure:** Request a new token; check `authority` of
      `callers.bearer`.
    - `its issuer … is not the authority's`\
      The token is from another provider, tenant or version. **Cure:** Compare the issuer with `authority` of
      `callers.bearer`.
    - `its audience … is none of callers.bearer`\
      The token is for another API. **Cure:** Request a token for one of `audiences`, or add the audience that the
      message names.
    - `it has no exp`\
      The token would be valid for ever. **Cure:** Change the issuer's settings for this audience.
    - `it expired at …`\
      The caller sent an old token, or a clock is wrong. **Cure:** Request a new token; check `date -u` on both sides.
    - `it is not valid before …`\
      The token begins in the future: a clock is wrong. **Cure:** Check `date -u` on both sides.
    - `its typ is neither at+jwt nor JWT`\
      The JWT is for another purpose, such as a logout. **Cure:** Send an access token.
    - `its claims say that it is a refresh, logout or event token`\
      The JWT is for another purpose. **Cure:** Send an access token.
    - `it is an ID token`\
      An ID token tells an application who signed in; it opens no API. **Cure:** Send an access token for this proxy.
    - `it is bound to a key (cnf) that the caller does not prove to hold`\
      The token is valid only with the caller's certificate. **Cure:** Let the caller show that certificate in TLS; the
      listener needs `callers.certificate`.
    """#
  }
}
