import Tokens

extension TroubleshootingPage {
  /// Identity providers.
  static var provider: String {
    #"""
    ## Identity provider

    The log and `bearer-proxy token --route NAME` show these. The provider's own messages, such as `invalid_client` or
    `AADSTS…`, are shown as they are; its documentation explains them.

    - `it answered with status …`\
      The machine's metadata service did not say the region. **Cure:** See that the proxy may reach it, or name the
      region.
    - `its answer names no region`\
      The machine's metadata service answered without a region. **Cure:** Name the region in the configuration.
    - `an http authority leads to https, for which nothing is trusted`\
      The authority is `http:` at a loopback address, and its metadata name an endpoint with `https:`. **Cure:** Write
      `https:` in `authority`, or have the provider name endpoints with `http:`.
    - `link-local addresses are refused`\
      The host's only addresses are where clouds hand out a machine's credentials. **Cure:** Correct the host, or this
      machine's resolver.
    - `private addresses are refused`\
      An API names this host as its provider, and it is this machine or in a private network. **Cure:** If it is yours,
      name it as `authority`.
    - `no usable address`\
      The resolver answered, with neither an IPv4 nor an IPv6 address. **Cure:** Look at the name with `getent ahosts
      HOST`.
    - `modulus or exponent out of range`\
      The provider publishes an RSA key that no signature can be checked with. **Cure:** Tell the provider's operator.
    - `… has no address: …`\
      The provider's name does not resolve here. **Cure:** \#(ProviderCure.host.page) Behind a corporate proxy, set
      `HTTPS_PROXY`.
    - `… port … accepted no connection: …`\
      Nothing listens there, or a firewall rejects the connection. The system's words follow, such as `Connection
      refused`. **Cure:** \#(ProviderCure.refused.page) \#(ProviderCure.firewall.page)
    - `… cannot be reached: …`\
      The outbound proxy failed; its reason follows. **Cure:** See [upstreams](#upstreams).
    - `… failed the TLS handshake: …`\
      Usually the provider's certificate is from a private authority: `unable to get local issuer certificate`.
      **Cure:** Set `tls: {ca_file: …}` at the application.
    - `… closed the connection before it had answered`\
      The provider, or a device on the way, closed it. **Cure:** \#(ProviderCure.address.page) The proxy retries; if it
      persists, check what is between the two.
    - `… answered plain HTTP with TLS`\
      The port expects TLS. **Cure:** \#(ProviderCure.https.page)
    - `… answered with something that is not HTTP`\
      The port uses another protocol. **Cure:** \#(ProviderCure.address.page)
    - `… answered with more than 1 MiB`\
      It is not an identity provider. **Cure:** As above.
    - `… did not answer in time`\
      Callers waited ten seconds for the provider, which has not answered. The token request itself goes on for a
      minute: what it brings serves the next callers. **Cure:** \#(ProviderCure.firewall.page) Packets may be dropped.
      Else check the provider's state.
    - `the client assertion cannot be read from …: …`\
      The file of `client_assertion_file` does not exist, or this user cannot read it. **Cure:**
      \#(ProviderCure.assertionFile.page) Check the pod's projected volume, and the file's owner and mode.
    - `what … holds is no signed JWT, and was not sent as a client assertion`\
      The file is another one, or incomplete. **Cure:** \#(ProviderCure.assertionFile.page)
    - `the token in … expired at … and was not sent: what writes that file has not renewed it (the kubelet, for a
      projected volume; else an agent)`\
      The JWT in the file has ended by its own `exp`, so the provider was not asked. **Cure:**
      \#(ProviderCure.projectedToken.page) Another file: \#(ProviderCure.tokenFile.page)
    - `the client assertion that the program brought expired at … and was not sent`\
      A program that uses the library gave a JWT that has ended. **Cure:** \#(ProviderCure.program.page)
    - `the token that was handed out had expired at …, and was not sent`\
      The issuer of the token that proves the application answered with an old one. **Cure:**
      \#(ProviderCure.issuer.page)
    - `the client assertion could not be signed: …`\
      OpenSSL makes no signature with the application's key. **Cure:** \#(ProviderCure.signature.page)
    - `the actor's token: …`\
      The file that `actor` of the route names cannot be read, or holds no JWT. **Cure:** \#(ProviderCure.actor.page)
    - `the caller's token has ended, or names no tenant`\
      A caller brought a token that is over, or, to an application of many tenants, one without `tid`. **Cure:**
      \#(ProviderCure.callerToken.page)
    - `… gave no token that proves the application: …`\
      Who hands out the application's proof failed; the reason follows. **Cure:** \#(ProviderCure.proof.page) The reason
      follows.
    - `the managed identity service (…)`\
      The beginning of another message: a service of the machine (Azure). **Cure:**
      \#(ProviderCure.identityService.page) With status 410: \#(ProviderCure.identityUpdate.page) With 429:
      \#(ProviderCure.identityPause.page) If it refuses: \#(ProviderCure.identityAssignment.page)
    - `Google Cloud's metadata server`\
      The beginning of another message. **Cure:** \#(ProviderCure.gcp.page)
    - `the command …`\
      The beginning of another message: the program of `assertion_command`. **Cure:** See the reason.
    - `it cannot be started: …`\
      The program of `assertion_command` or its interpreter does not exist here, or must not be run. **Cure:**
      \#(ProviderCure.commandStart.page)
    - `it took longer than … s and was killed`\
      The command waits for something: a prompt, a lock, a host. **Cure:** \#(ProviderCure.commandTime.page)
    - `it printed more than … bytes and was killed`\
      The command printed more than any JWT has. **Cure:** \#(ProviderCure.commandOutput.page)
    - `it ended with status …: …`\
      The command failed; the first line of its errors follows. **Cure:** \#(ProviderCure.commandOutput.page)
    - `it ended with status … and no error that can be shown`\
      The same, but it wrote no error, or one that shows a variable's value or a token. **Cure:** As above.
    - `it was ended by signal …: …`\
      The command crashed or was killed; the first line of its errors follows. **Cure:** See the kernel's log: out of
      memory, or a system call that the unit forbids.
    - `it was ended by signal … and no error that can be shown`\
      The same without an error that may be shown. **Cure:** As above.
    - `it printed no signed JWT, and nothing of it was sent`\
      Standard output held something else, or more than the JWT. **Cure:** \#(ProviderCure.commandOutput.page) If the
      JWT is there and has ended: \#(ProviderCure.commandExpiry.page)
    - `the job's ID token service`\
      The beginning of another message. **Cure:** \#(ProviderCure.githubActions.page)
    - `application '…'`\
      The beginning of another message: the application that proves another one. **Cure:**
      \#(ProviderCure.otherApplication.page)
    - `the agent of Azure Arc named no key file in …`\
      What answers is not the agent, or one of another version. **Cure:** \#(ProviderCure.arcAgent.page)
    - `the key of Azure Arc's agent cannot be read from …: …`\
      Only the group `himds` may read it. **Cure:** \#(ProviderCure.arcKey.page)
    - `the answer names another identity than was asked for, or none`\
      An older agent of Azure Arc ignores user-assigned identities. **Cure:** \#(ProviderCure.arcIdentity.page)
    - `OpenSSL says '…'`\
      The end of another message: OpenSSL's own reason. **Cure:** See the message in front of it.
    - `there is no randomness`\
      The end of another message: the kernel gives no random bytes. **Cure:** Look at the machine's state.
    - `the key is of another kind`\
      The end of another message. **Cure:** Use an RSA key, or one on P-256, P-384 or P-521.
    - `the key has … bits`\
      The end of another message. **Cure:** Use an RSA key of 2048 bits or more.
    - `this machine's clock is … … the provider's`\
      The end of another message: the provider refused a signed JWT, and its clock differs. **Cure:**
      \#(ProviderCure.clock.page)
    - `the token cache cannot be read, so who is signed in is not known`\
      The Redis server is unreachable, or the cache file is damaged or unreadable for this user. **Cure:**
      \#(ProviderCure.cache.page) See [cache at work](#cache-at-work).
    - `… without an OAuth error…`\
      The token endpoint answered with a 3xx or 4xx status and no error of OAuth; content type and the beginning of the
      text follow. A provider answers a wrong credential like this (glewlwyd: 403), a firewall or an outbound proxy a
      request that it does not let through. **Cure:** 400, 401, 403: \#(ProviderCure.credentialOrDevice.page) 404, 405,
      410 and 3xx: \#(ProviderCure.tokenEndpoint.page) 407: \#(ProviderCure.proxyPassword.page) Others:
      \#(ProviderCure.unknownStatus.page)
    - `an empty answer without an OAuth error`\
      The same without any text. **Cure:** As above, by the status.
    - `an answer without an OAuth error, which repeats a secret of the request and is not shown`\
      The same, but the text contains the client secret or another secret that was sent. **Cure:** As above, by the
      status; the provider's own log has the text.
    - `answered with status … and no token`\
      The provider, or a gateway in front of it, has an error. **Cure:** \#(ProviderCure.trouble.page) The proxy retries
      with growing pauses.
    - `metadata answered with status …`\
      The authority has no metadata, usually because of a wrong path or realm. Entra's message follows: `AADSTS90002` is
      an unknown tenant. **Cure:** \#(ProviderCure.metadata.page) Entra: check the tenant.
    - `metadata is not a JSON object`\
      The response is a page of a portal or a proxy. **Cure:** The same.
    - `metadata has no …`\
      It is not an OpenID Connect provider. **Cure:** The same.
    - `metadata names the issuer …, which is not this authority's`\
      The authority in the configuration differs from the provider's issuer. **Cure:** \#(ProviderCure.metadata.page) If
      the named issuer is the right one, copy it exactly, including slashes.
    - `metadata's … is not an https URL`\
      The provider is configured without TLS, or is behind a proxy that terminates TLS. **Cure:** Set the provider's
      public URL in its own settings.

    ### Codes of OAuth

    The provider's code is in the message. What it is about depends on how the application proves itself.

    - `invalid_client`\
      The provider does not know the application, or does not accept what proves it. **Cure:** A secret:
      \#(ProviderCure.clientSecret.page) A certificate: \#(ProviderCure.certificate.page) With `mutual_tls`:
      \#(ProviderCure.handshakeCertificate.page) A command: \#(ProviderCure.commandAssertion.page) Another token:
      \#(ProviderCure.federatedCredential.page) An agent: \#(ProviderCure.agent.page)
    - `unauthorized_client`\
      The application may not use this grant. **Cure:** \#(ProviderCure.grantType.page)
    - `invalid_scope`\
      Also `invalid_target` and `invalid_resource`: the provider does not know what the route asks for. **Cure:**
      \#(ProviderCure.scopes.page)
    - `access_denied`\
      Also `invalid_grant` for an application's own token: a permission is missing. **Cure:**
      \#(ProviderCure.permission.page)
    - `interaction_required`\
      Also `consent_required`, for an agent. **Cure:** \#(ProviderCure.agentConsent.page)
    - `invalid_request`\
      For an application that another token proves: as `invalid_client`. For a managed identity: it is not assigned.
      **Cure:** See `invalid_client`, or: \#(ProviderCure.identityAssignment.page)
    - `\#(TokenErrorReply.boundElsewhere)`\
      The token is bound to the certificate of the handshake, and upstreams are not shown it. **Cure:**
      \#(ProviderCure.boundTokens.page)
    - `the provider shows an error instead of a sign-in that comes back to`\
      The provider does not know the address to which a browser returns. **Cure:** Sign-in pages:
      \#(ProviderCure.redirectURI.page) `login`: \#(ProviderCure.loopbackRedirectURI.page)

    For any other code: \#(ProviderCure.unknownCode.page)
    """#
  }
}
