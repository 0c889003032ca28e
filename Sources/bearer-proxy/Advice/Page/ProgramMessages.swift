extension TroubleshootingPage {
  /// Programs that get tokens: the configuration, and what they are answered.
  static var programs: String {
    #"""
    ### Programs that get tokens

    - `…: a program '…' is on line … already; choose another name`\
      The name is the client id and the label of metrics, so each is there once. **Cure:** Choose another name.
    - `… is empty: nothing would be served`\
      `programs: {}`. **Cure:** Add a program, or remove the key: the listener is for routes then.
    - `…: a listener with programs serves nothing else; give this a listener of its own`\
      `sign_in` or `hand_out` beside `programs`. **Cure:** Add another listener for it.
    - `… is empty: the program would get no token`\
      `tokens: []`. **Cure:** List a route, or an application with scopes.
    - `…: programs show no secret with shape: imds; remove it`\
      Programs that believe in a virtual machine have none to show. **Cure:** Remove it, or use `shape: app_service`.
    - `…: with shape: imds every program that can connect gets tokens; write 'callers: {anyone: true}' at the listener,
      or use shape: app_service, which has a secret`\
      The setting says that this is meant. **Cure:** Prefer `app_service`; Azure's SDKs know both.
    - `…: with shape: imds and 'hosts: ["*"]' pages in browsers would get tokens; list the names of the listener,
      or none`\
      A page could give its own name the proxy's address. **Cure:** Remove `hosts`, or list the names.
    - `…: with shape: imds others than the program would reach …; listen at a loopback address, at 169.254.169.254 in
      the program's network namespace, or use shape: app_service`\
      The address is not the program's alone. **Cure:** Run the proxy in the program's pod, or network namespace.
    - `… is for shapes of managed identities`\
      OAuth clients name no managed identity. **Cure:** Remove `identities`; a client names scopes.
    - `…: a route has its own application and scopes; remove 'route' or these`\
      A token is a route's or an application's. **Cure:** Remove one.
    - `…: there is no route '…'`\
      `routes` has no such name. **Cure:** Correct one of the two.
    - `… needs 'resources': programs with shape: … ask by resource, and no scope ends in /.default`\
      Nothing tells by which name the program asks. **Cure:** List the resource that the program requests.
    - `…: route '…' has no token`\
      `token: none`. **Cure:** Name another route.
    - `…: route '…' exchanges callers' tokens (as: caller), and programs with shape: … bring none; use shape:
      token_endpoint`\
      Only a client of the token endpoint can send a `subject_token`. **Cure:** Change the shape or the route.
    - `…: route '…' exchanges callers' tokens (as: caller); set 'callers: {bearer: …}' at the listener, which says whose
      subject_token is accepted`\
      An exchanged token is verified first. **Cure:** Add the issuer and the audience of those tokens.
    - `…: nothing tells this program from '…': a listener has one with shape: imds`\
      The shape has no secret. **Cure:** Give each such program a listener of its own.
    - `…: '…' has the same secret; give each program its own`\
      The secret tells programs apart. **Cure:** Make another one: `openssl rand -hex 24`.

    - `the program '…', for which this process is, is gone`\
      A reload of `exec` found the program missing, so the former configuration stays. **Cure:** Add the program again,
      or end it.

    A program that asks for a token can be answered:

    - `Programs get tokens here, and this request has a browser's field (Origin or Sec-Fetch-...).`\
      A page asks, or a program that imitates a browser. **Cure:** None for a page. A program must not send the fields.
    - `The request has passed a proxy: it has X-Forwarded-For or Forwarded. A managed identity's tokens are for programs
      that ask directly.`\
      Something made a server request this address. **Cure:** Take proxies out of the way: `NO_PROXY` with the address.
    - `Nothing is here. This listener serves programs: /oauth2/token, /msi/token (App Service) and
      /metadata/identity/oauth2/token (IMDS).`\
      The path is misspelled. **Cure:** Correct the program's token URL, or `IDENTITY_ENDPOINT`.
    - `No program of this listener has shape: ….`\
      The program asks in another way than `shape` says. **Cure:** Change one of the two.
    - `The token endpoint takes POST, everything else here takes GET.`\
      Another method. **Cure:** Correct it.
    - `The parameters are not a form of type application/x-www-form-urlencoded with a Content-Length, one of them occurs
      twice, or grant_type is missing.`\
      The program sends JSON, or no `grant_type`. **Cure:** Send a form.
    - `Required metadata header not specified: send 'Metadata: true', once.`\
      The first question of a credential chain, which only asks whether there is a service; or a request that was made
      for another program. **Cure:** None is needed.
    - `api-version is missing or too old: 2019-08-01 for App Service, 2018-02-01 for IMDS.`\
      An SDK from before 2019. **Cure:** Update it.
    - `X-IDENTITY-HEADER is missing, repeated or wrong. It is the secret of one of this listener's programs.`\
      `IDENTITY_HEADER` is not the program's `secret`. **Cure:** Set it, and restart the program.
    - `The client id is no program of this listener with shape: token_endpoint, or the secret is not its own.`\
      The client id is the name under `programs`. **Cure:** Correct it, or the secret.
    - `The client shows its secret twice: send Basic, or client_secret in the form.`\
      RFC 6749 forbids both. **Cure:** Turn one off.
    - `The parameter resource is missing.`\
      An SDK always sends it. **Cure:** Name the resource that the token is for.
    - `The resource is none of this program's: it must be listed under its tokens, as the program spells it.`\
      Nothing outside the configuration is requested; beside `scope`, the resource or audience must be that of the same
      token. **Cure:** Add it to `resources` of the program's token.
    - `Identity not found: no token of this program is for that identity, or for programs that name none.`\
      The program names a client id or resource id. **Cure:** Add it to `identities`, or remove it from the program.
    - `The scope is none of this program's: it must be a token's scopes, or be listed among its resources.`\
      Nothing outside the configuration is requested. **Cure:** Remove `scope` from the program, or list it.
    - `This token is not given by that grant: client_credentials, or token exchange (RFC 8693) for a route with as:
      caller.`\
      Another grant. **Cure:** Set the one that fits the route.
    - `A token exchange needs subject_token and subject_token_type (an access token or JWT), and no actor_token.`\
      A parameter of RFC 8693 is missing. **Cure:** Send both. Who acts for the caller is configured at the route.

    """#
  }
}
