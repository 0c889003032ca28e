internal import Tokens

extension SectionShape {
  static let application = SectionShape(
    [
      Row(
        .authority, .url,
        "A tenant of Microsoft Entra, or any OpenID Connect issuer. http: is for loopback addresses only."),
      Row(.clientID, .text, "The application's client id."),
      Row(
        .clientSecret, .text, without: [.clientSecretFile],
        "The client secret itself; take it from the environment, or use client_secret_file."),
      Row(.clientSecretFile, .file, "A file that holds the client secret. Line breaks at its end are ignored."),
      Row(
        .clientAssertionFile, .file, without: [.clientSecret, .clientSecretFile],
        """
        A file with a JWT that proves the application instead of a secret (RFC 7523): a federated credential, such as \
        a pod's projected service-account token. Read for each token request.
        """),
      Row(
        .clientAuthentication, .choice(ClientSecretPlacement.self),
        """
        How the client secret is sent: client_secret_basic in the Authorization field, client_secret_post in the form. \
        Default: what the provider's metadata say (the form at Microsoft's hosts; the field if both or none are \
        listed), and after invalid_client the other one.
        """),
      Row(
        .credential, .section(credential),
        without: [.clientSecret, .clientSecretFile, .clientAssertionFile],
        """
        What proves the application; one of its keys. client_secret, client_secret_file and client_assertion_file are \
        short for the first two.
        """),
      Row(.tls, .section(applicationTLS), "Trust for the identity provider."),
      Row(
        .clientCapabilities, .texts,
        "Client capabilities announced to the identity provider. cp1: understands claims challenges."),
      Row(
        .familyTokens, .boolean, default: .value("false"),
        """
        Also redeem refresh tokens of other applications of Azure CLI's family, such as Azure PowerShell, if its own \
        cannot be used. For Azure CLI's client_id only.
        """),
      Row(
        .proxy, .proxyAddress,
        """
        The HTTP proxy for connections to the identity provider, http://host:port, or none. Default: HTTPS_PROXY, \
        HTTP_PROXY and NO_PROXY of the environment.
        """),
      Row(
        .redirectURI, .choice(RedirectURIChoice.self),
        """
        The redirect URI of sign-ins; it must be registered at the provider. shared: http://localhost for `login`, and \
        /.bearer/callback of listeners with sign-in pages. own: /.bearer/callback/NAME for both, with the \
        application's NAME. Then no other provider can receive a response of this one ("mix-up", RFC 9700 section \
        4.4). Default: own if people sign in to applications of several issuers (all of Microsoft Entra is one \
        issuer), otherwise shared.
        """),
      Row(.displayName, .text, "What people read on pages instead of the application's name, at most 80 characters."),
      Row(
        .azureRegion, .text,
        """
        The region whose token endpoint issues the application's own tokens, if Entra has made it available to you, \
        such as westeurope; auto is that of the machine, by REGION_NAME or Azure's metadata service, else the global \
        endpoint. Default: the global endpoint.
        """),
      Row(
        .domainHint, .text,
        """
        Microsoft's providers: people begin at the sign-in page of this domain, of organizations or consumers. \
        Default: at the one that asks for the user name.
        """),
      Row(
        .offlineAccess, .boolean, default: .value("true"),
        """
        Whether sign-ins request a refresh token. With false none is kept or used, and people sign in again when their \
        access token ends.
        """),
      Row(
        .requirePKCE, .boolean, default: .value("false"),
        """
        Whether people may sign in only if the provider's metadata list S256 in code_challenge_methods_supported, as \
        MCP wants it. Sign-ins use PKCE in any case; a provider that ignores it lets others redeem a stolen code. \
        Microsoft Entra's metadata do not list it.
        """),
    ],
    .schema(
      "if",
      #"{ "required": ["credential"], "properties": { "credential": { "anyOf": "#
        + #"[{ "required": ["managed_identity"] }, { "required": ["workload_identity"] }] } } }"#),
    .schema("else", #"{ "required": ["authority", "client_id"] }"#))

  static let applicationTLS = SectionShape([
    Row(.caFile, .file, "PEM: certification authorities, instead of the system's.")
  ])
}
