import Telemetry

extension TroubleshootingPage {
  /// Traces, sign-ins and events of the log.
  static var log: String {
    #"""
    ## Traces

    None of these stops the proxy from serving. The log says `a variable of OpenTelemetry is not followed` at the start,
    with the variable and one of the reasons. `bearer-proxy check` shows them as warnings. `/config` has the values in
    force.

    - `a variable of OpenTelemetry is not followed`\
      One of the reasons below follows. **Cure:** One of the reasons below follows: \#(step(.telemetryVariable)).
    - `requests are traced`\
      Not an error: an endpoint is set. **Cure:** If that is not intended, unset `OTEL_EXPORTER_OTLP_ENDPOINT`, or set
      `OTEL_TRACES_EXPORTER=none`.
    - `is no http:// or https:// URL without user information; traces stay off`\
      The value is a host without a scheme, or has a key before an `@`. **Cure:** Write `http://HOST:4318`; keys belong
      in `OTEL_EXPORTER_OTLP_HEADERS`.
    - `asks for traces, but OTEL_EXPORTER_OTLP_ENDPOINT does not say where to send them`\
      Only `OTEL_TRACES_EXPORTER=otlp` is set. **Cure:** Set the endpoint.
    - `is '…'; otlp alone is spoken here`\
      `console`, `zipkin`, … **Cure:** `otlp`, or `none`.
    - `is '…', but traces are sent as http/json all the same: the endpoint has to be the collector's HTTP receiver, by
      custom on port 4318`\
      The variable is meant for other programs, or the endpoint is a gRPC receiver. **Cure:** Use the endpoint on port
      4318, and `http/json`.
    - `is '…', but what is sent is not compressed`\
      The variable is `gzip`, for example. **Cure:** None needed; `none` silences the warning.
    - `is an http URL: the fields of OTEL_EXPORTER_OTLP_HEADERS go there in clear text`\
      A key would go to a collector over the network without TLS. **Cure:** Use `https://`.
    - `has an entry that is not NAME=VALUE with a field of one's own; it is left out`\
      The entry has no `=`, has a control character, or names a field such as `host` that the proxy sets itself.
      **Cure:** `NAME=VALUE,NAME=VALUE`, with `%20` for a blank and `%2C` for a comma.
    - `has an entry that is not KEY=VALUE; it is left out`\
      `OTEL_RESOURCE_ATTRIBUTES` is not a list of pairs. **Cure:** `KEY=VALUE,KEY=VALUE`, percent-encoded.
    - `is '…', which is no whole number from … to …; … is used`\
      Perhaps a unit follows the number. **Cure:** Write milliseconds, or a count, without a unit.
    - `is '…', which is no part from 0 to 1; 1 is used`\
      The value is perhaps a percentage. **Cure:** Write `0.1` for a tenth.
    - `is '…', which is not known here; parentbased_always_on is used`\
      The sampler is another library's. **Cure:** Use `always_on`, `always_off`, `traceidratio`, or one of these behind
      `parentbased_`.
    - `names …; tracecontext alone is spoken here`\
      The variable names `b3` or `jaeger`, for example. **Cure:** Make callers send `traceparent`.
    - `cannot be used with TLS, so traces stay off: …`\
      One of the next entries follows. **Cure:** See there.
    - `… cannot be read: …`\
      A file that an `OTEL_EXPORTER_OTLP_…` variable names does not exist, is unreadable for this user, or is not a
      regular file. **Cure:** Correct the file.
    - `… holds no certificate: …`\
      `OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE` is not PEM, or not readable. **Cure:** Correct the file.
    - `… holds no private key: …`\
      `OTEL_EXPORTER_OTLP_CLIENT_KEY` is not PEM, or not readable. **Cure:** Correct the file.
    - `… is another certificate's key`\
      Certificate and key are of different pairs. **Cure:** Use a matching pair.
    - `… holds no certification authorities: …`\
      `OTEL_EXPORTER_OTLP_CERTIFICATE` is not PEM, or empty. **Cure:** Use the authority's certificate.
    - `traces cannot be exported`\
      The collector has not taken a batch for `OTEL_BSP_EXPORT_TIMEOUT`, or rejects it; `reason` says how. The message
      appears once, until the collector accepts a batch again. **Cure:** See the next entries. Requests are not
      affected.
    - `there is no receiver of traces at the endpoint's path`\
      The path is wrong, or the receiver is a gRPC receiver. **Cure:** Set `OTEL_EXPORTER_OTLP_ENDPOINT` without a path,
      or `…_TRACES_ENDPOINT` with the whole path.
    - `the collector wants other OTEL_EXPORTER_OTLP_HEADERS`\
      401 or 403: the key is missing or wrong. **Cure:** Correct the key.
    - `the collector takes no batches of OTEL_BSP_MAX_EXPORT_BATCH_SIZE spans`\
      413: the collector's limit is lower. **Cure:** Choose a smaller batch.
    - `the collector answered with status …`\
      The collector has an error, or does not accept JSON. **Cure:** See its log.
    - `traces are exported again`\
      The trouble is over; the message has the number of lost spans. **Cure:** None needed.
    - `the collector rejects spans`\
      The collector accepted only part of a batch; `detail` has its message. The message appears once;
      `bearer_proxy_trace_spans_total` counts the spans. **Cure:** Check the collector's limits.
    - `more spans than OTEL_BSP_MAX_QUEUE_SIZE wait, the newest are dropped`\
      There are more traced requests than the collector accepts. **Cure:** Use a sampler, a larger queue or a faster
      collector.

    For a `reason` that names a host (no address, no connection, TLS, no answer in time), see [identity
    provider](#identity-provider).

    ## Sign-in

    What `bearer-proxy login` prints if the sign-in fails.

    Messages of the provider, and about the way to it, are explained [above](#identity-provider). `login` adds:
    \#(SignInCure.reachability.page) An answer without a token: \#(SignInCure.trouble.page) An application that is
    rejected: \#(SignInCure.credential.page) Other metadata: \#(SignInCure.authority.page)

    - `the identity provider's metadata names no authorization_endpoint to sign in at`\
      The provider does not support sign-in with a browser. **Cure:** \#(SignInCure.deviceCode.page) Or use another
      authority.
    - `the identity provider does not offer to create an account: its prompt_values_supported does not list 'create'`\
      `--prompt create` at a provider that has no such page. **Cure:** \#(SignInCure.registration.page)
    - `the identity provider's code_challenge_methods_supported does not list S256, and the application has
      require_pkce`\
      Without PKCE, a thief of a sign-in's code can redeem it. Microsoft Entra supports it without saying so.
      **Cure:** \#(SignInCure.pkce.page)
    - `the identity provider knows no domain_hint, which is Microsoft's own`\
      `--domain-hint` at an OpenID Connect issuer. **Cure:** \#(SignInCure.domainHint.page)
    - `the identity provider's metadata names no device_authorization_endpoint`\
      The provider does not support device codes. **Cure:** \#(SignInCure.browser.page)
    - `the identity provider refuses the sign-in: …`\
      The application's registration: [redirect URI](../config/sign-in.md#redirect-uris), public client, scopes.
      **Cure:** Follow the provider's message. After a code: \#(SignInCure.anotherCode.page) With `--prompt none`:
      \#(SignInCure.silence.page)
    - `the sign-in was declined: …`\
      The person, or an administrator's policy, declined. **Cure:** Ask them.
    - `the answer that came was not to this sign-in (its state is another one); nothing was used of it`\
      The response came from an old tab, or from an attempt to inject another sign-in. **Cure:**
      \#(SignInCure.newWindow.page)
    - `the answer that came names another issuer than the one asked; nothing was used of it`\
      Another provider answered (mix-up). **Cure:** \#(SignInCure.newWindow.page) Check the authority.
    - `the answer that came does not name its issuer, as this provider's always do; nothing was used of it`\
      Another provider answered (mix-up), or the provider does not do what its metadata promise. **Cure:**
      \#(SignInCure.newWindow.page) Check the authority.
    - `the answer that came cannot be read`\
      The browser's request is not a response of a provider. **Cure:** \#(SignInCure.newWindow.page)
    - `the answer that came has neither a code nor an error`\
      The browser's request is not a response of a provider. **Cure:** \#(SignInCure.newWindow.page)
    - `no answer came back from the browser within … s`\
      The person did not finish, or the browser is on another machine. **Cure:** \#(SignInCure.redirectURI.page)
      `--timeout` waits longer.
    - `the code was not confirmed in time and is no longer good`\
      The device code expired. **Cure:** \#(SignInCure.newCode.page)
    - `the sign-in was given up`\
      The command was interrupted with Ctrl-C. **Cure:** Start again.
    - `the identity provider's ID token is not believed: …`\
      One of the reasons below. **Cure:** See there.
    - `there is none`\
      The provider sent no ID token. **Cure:** The scope `openid` must be allowed for the application.
    - `it is not a signed JWT`\
      The provider sends another format. **Cure:** In the provider's settings, choose signed and not encrypted.
    - `it was made for another sign-in (its nonce is another one)`\
      A response was replayed. **Cure:** Start again.
    - `it was asked for by another application`\
      `azp` is another client. **Cure:** Check the client id.
    - `the person signed in too long ago`\
      The API demands a recent sign-in. **Cure:** Use `--prompt login`.
    - `it does not say when the person signed in (it has no auth_time), and a recent sign-in was asked for`\
      The provider omits `auth_time`, although the request had `max_age`. **Cure:** In the provider's settings for this
      application, add `auth_time` to ID tokens.
    - `it is signed with '…', not with RS256 or PS256`\
      The provider uses another algorithm. **Cure:** Change the provider's settings for this application.
    - `its header demands an unknown extension`\
      The header has `crit`. **Cure:** Change the provider's settings.
    - `the provider publishes no key that it could be signed with`\
      The keys were just changed, or the metadata belongs to another provider. **Cure:** Start again in a minute.
    - `its signature is not the provider's`\
      The token is forged or damaged. **Cure:** Check what is between here and the provider.
    - `its issuer is not the provider`\
      The token is from another tenant or realm. **Cure:** Check the authority.
    - `it is meant for another application`\
      `aud` is another client. **Cure:** Check the client id.
    - `it has no expiry`\
      It is not an OpenID Connect provider. **Cure:** Check the authority.
    - `it has expired; is this machine's clock right?`\
      Usually the clock is wrong. **Cure:** See `timedatectl`.
    - `it is not valid yet; is this machine's clock right?`\
      Usually the clock is wrong. **Cure:** See `timedatectl`.
    - `the identity provider does not say who signed in, so its tokens are not kept`\
      The response has neither an ID token nor client information. **Cure:** The scope `openid` must be allowed for the
      application.
    - `… signed in, which was not confirmed; nothing of it was kept`\
      The person did not confirm the account that signed in. **Cure:** \#(SignInCure.otherUser.page) Else start again;
      `account` on the route names the expected person.
    - `cannot listen on … for the browser's answer: …`\
      No port is free, or the process is confined. **Cure:** \#(SignInCure.port.page) Or the process is confined: use
      --device-code.
    - `the cryptography library fails: …`\
      OpenSSL cannot make random bytes or digests. **Cure:** Check the machine's OpenSSL installation.
    - `… signed in, but another account was expected; nothing was kept`\
      The browser was signed in as another person. **Cure:** \#(SignInCure.account.page) Or change the route's
      `account`.
    - `the sign-in succeeded, but the cache cannot be written: …`\
      See [cache at work](#cache-at-work). **Cure:** Repair that, and sign in again.

    ## Events of the log

    These events name their next step, in `next`. Other events take it from the tables above.

    - `accept paused`\
      A connection could not be accepted: no descriptor or no memory is free, or all connections are busy. **Cure:** In
      `next`: \#(step(.openFilesOrConnections)); or \#(step(.busyOpenFiles)); or \#(step(.busyConnections)); or
      \#(step(.restartAfterFailure)).
    - `HTTP/2 connection ended for abuse`\
      Its frames cost work and bring none: in `reason`, `resets` (streams that it resets), `stream_errors` (errors that
      reset streams), `idle_frames` (frames without content) or `headers` (a head that grows when decoded). It is an
      attack, or a client that cancels nearly all of its requests. **Cure:** \#(step(.http2Abuse)).
    - `cannot listen`\
      A listener cannot be used by a loop. **Cure:** In `next`: \#(step(.openFiles)); or \#(step(.restartAfterFailure)).
    - `cannot serve a connection`\
      No descriptor or no memory was free for it. **Cure:** \#(step(.openFilesCount)).
    - `another program has emptied the token cache`\
      The file is there and has no accounts any more. **Cure:** \#(step(.signInAgain)).
    - `sign-in answered at another application's address`\
      The provider returned the browser to an address of another application. **Cure:** \#(step(.redirectURIs)).
    - `a challenge of an upstream cannot be used`\
      A 401 or 403 of the API has a challenge that breaks a rule. **Cure:** \#(step(.challengeField)).
    - `an API's metadata cannot be used`\
      The API demands scopes without naming them, the route has `discovered` in `scopes_on_challenge`, and the API's
      description of itself (RFC 9728) breaks a rule; `reason` says which. **Cure:** Correct the API's metadata, or list
      the scopes under `scopes`.
    - `changed certificate obtained no token, the former one stays in use`\
      New files for a certificate that tokens are bound to: the provider does not know it. **Cure:**
      \#(step(.boundCertificate)).
    - `a changed setting needs a restart`\
      A reload does not change it. **Cure:** \#(step(.restart)).
    - `an inherited socket is no listener of the configuration`\
      The socket unit has an address that `listeners` lacks. **Cure:** \#(step(.socketUnit)).
    - `an inherited descriptor is no listening socket`\
      The unit passes something else. **Cure:** \#(step(.inheritedDescriptor)).
    - `the Redis server refuses the newer token; its connection goes on until the former one ends`\
      The server does not know the object id any more, or the token is for another cloud. **Cure:**
      \#(step(.redisUser)).
    - `ended at once`\
      A second signal ended the proxy; requests were cut off. **Cure:** \#(step(.oneSignal)).
    - `ended before a token request was answered: a refresh token that it brings is lost`\
      The provider took longer than the shutdown. **Cure:** \#(step(.signInRoutes)).
    - `the access log cannot be opened again`\
      After `SIGUSR1`, the file cannot be created. **Cure:** \#(step(.accessFile)).
    - `access records cannot be written, and are lost`\
      The disk is full, or the reader of a pipe is gone. **Cure:** In `next`: \#(step(.accessSpace)); or
      \#(step(.accessOutput)).
    - `not confined`\
      The kernel or a container's rules do not allow Landlock. **Cure:** \#(step(.confinement)).
    - `the admin address cannot be recorded`\
      The runtime directory cannot be written. **Cure:** \#(step(.adminRecord)).
    - `token file cannot be written`\
      `token_file` of a route; the reason follows, and `status` has it, too. **Cure:** \#(step(.tokenFile)).
    - `no sign-in pages: the cryptography library fails`\
      OpenSSL cannot make random bytes. **Cure:** \#(step(.cryptography)).
    """#
  }
}
