internal import Bytes
internal import Routing

extension SectionShape {
  static let listener = SectionShape([
    Row(
      .address, .address, isRequired: true,
      """
      An IPv4 or IPv6 address and a port (0: the system chooses one), or unix:/absolute/path. An address that other \
      machines can reach needs a rule under callers.
      """),
    Row(
      .hosts, .texts,
      """
      Host values accepted besides the address itself; "*" accepts all. Others are rejected, because a web page can \
      make its own host name point at this machine (DNS rebinding). Without tls, browsers send no Fetch metadata to \
      names other than localhost. There they are served only if Origin or Referer is the listener's own. Programs are \
      served.
      """),
    Row(
      .callers, .section(callers), default: .section,
      """
      Who may call; all rules must hold. Without a rule: processes of this machine. A request that a browser marks as \
      another site's is rejected, unless anyone may call.
      """),
    Row(.tls, .section(listenerTLS), "Speak TLS on this listener."),
    Row(
      .http2, .boolean, default: .value("true"),
      """
      Accept HTTP/2 besides HTTP/1.1: over TLS if the caller chooses it (ALPN), otherwise if it begins with it (prior \
      knowledge).
      """),
    Row(
      .handOut, .choice(HandOut.self), default: .value(HandOut.none.rawValue),
      """
      The programs that get the tokens of routes here: proxies (nginx, Caddy and others) ask at \
      /.bearer/authorize/ROUTE and forward requests themselves. callers must name them by unix, header or certificate. \
      proxies or none.
      """),
    Row(
      .programs, .namedSections(program),
      """
      The programs that get tokens here for connections of their own, by name. The listener is for them alone. Secrets \
      are at least 16 characters.
      """),
    Row(
      .signIn, .wordOrSection(["true", "false"], signIn), default: .value("false"),
      """
      Pages below /.bearer/ where people sign in for routes that use their account: true, false, or a section. On a \
      loopback address, true is enough. All who may call may sign in. Browsers send neither callers.header nor \
      callers.bearer: with these rules, set the public_url of a proxy in front that adds them.
      """),
  ])

  static let program = SectionShape([
    Row(
      .shape, .choice(ProgramShape.self), default: .value(ProgramShape.tokenEndpoint.rawValue),
      """
      How it asks. token_endpoint: OAuth client credentials at /oauth2/token, its name is the client id. app_service: \
      IDENTITY_ENDPOINT ends in /msi/token, IDENTITY_HEADER is the secret. imds: the metadata service of Azure's \
      virtual machines. It has no secret and needs `anyone: true` under callers.
      """),
    Row(.secretFile, .file, "A file that holds its secret. Line breaks at its end are ignored."),
    Row(.secret, .text, without: [.secretFile], "The secret itself; take it from the environment."),
    Row(
      .leastLife, .duration(.seconds(1)...(.seconds(3600))), default: .value(durationText(ProgramSettings.usualLife)),
      """
      A token that ends sooner is refreshed first. If that fails, it is given as it is; tokens that never live longer \
      are refreshed at half of their life.
      """),
    Row(.tokens, .sections(programToken), isRequired: true, "Its tokens. No others are requested for it."),
  ])

  static let programToken = SectionShape(
    [
      Row(.route, .name, "The route whose token it is."),
      Row(.application, .name, "The application whose own token it is (client credentials), with scopes."),
      Row(.scopes, .texts, beside: .application, "The scopes, for an application."),
      Row(
        .resources, .texts,
        """
        The resources or scopes by which the program asks for it. A slash at the end makes no difference, unless both \
        spellings are listed. Default: the scopes, and what precedes /.default in them.
        """),
      Row(
        .identities, .texts,
        """
        The client ids, object ids or resource ids of managed identities by which the program asks for it. Default: it \
        names none.
        """),
    ], .oneOf([.route, .application]))

  static let listenerTLS = SectionShape([
    Row(.certificateFile, .file, isRequired: true, "PEM: the certificate, then its chain."),
    Row(.keyFile, .file, isRequired: true, "PEM: the private key that belongs to it."),
  ])

  static let signIn = SectionShape([
    Row(
      .publicURL, .url,
      """
      The listener's URL for browsers, https unless it is loopback. The application's registration must list \
      <public_url>/.bearer/callback as a redirect URI. Default: the listener's own address, with the name localhost.
      """),
    Row(
      .limit, .duration(.seconds(1)...(.seconds(3600))), default: .value(durationText(SignInSettings.usualLimit)),
      "How long a page is valid, and then how long the sign-in at the provider may take."),
    Row(
      .logout, .boolean, default: .value("false"),
      """
      A page /.bearer/logout where people sign out, here and at the provider. All who may call may sign out whoever is \
      signed in.
      """),
  ])

  static let callers = SectionShape([
    Row(
      .anyone, .boolean, default: .value("false"), without: [.unix, .header, .certificate, .bearer],
      "true: all who can connect. Instead of the other rules."),
    Row(.unix, .section(unix), "The user or group of the calling process, as a number; for a unix socket."),
    Row(.header, .section(header), "A field with a secret of at least 16 characters. It is not forwarded."),
    Row(
      .bearer, .section(bearer),
      """
      The caller's access token, checked by issuer, audience, signature, times and kind. It is not forwarded. ID \
      tokens are rejected. A token that is bound to a key (cnf) is rejected, unless it is bound to the client \
      certificate that the rule `certificate` has verified.
      """),
    Row(
      .origins, .texts,
      "Other sites whose pages may call. The proxy answers their preflights, and the pages may read the responses."),
    Row(.certificate, .section(callerCertificate), "A client certificate; the listener needs tls."),
  ])

  static let callerCertificate = SectionShape([
    Row(.caFile, .file, isRequired: true, "PEM: the certification authorities that issue callers' certificates."),
    Row(
      .subjects, .texts,
      """
      The certificate must have one of these subjects (RFC 2253) or alternative names. Default: every certificate of \
      these authorities.
      """),
  ])

  static let unix = SectionShape(
    [
      Row(.uids, .numbers, "Users."),
      Row(.gids, .numbers, "Groups."),
    ], .some)

  static let header = SectionShape(
    [
      Row(.name, .text, isRequired: true, "The name of the field."),
      Row(.value, .text, "The secret itself; take it from the environment."),
      Row(.valueFile, .file, "A file that holds the secret. Line breaks at its end are ignored."),
    ], .oneOf([.value, .valueFile]))

  static let bearer = SectionShape(
    adminBearer.rows + [
      Row(
        .scopes, .texts,
        """
        The token must have all of these scopes, or roles of the same names; else the answer is 403 with \
        insufficient_scope. Entra's tokens name them without the api://CLIENT-ID/ before them.
        """),
      Row(
        .publicURL, .url,
        """
        The URL by which callers reach this listener, https unless it is loopback, without a path. With it, 401 and \
        403 name the metadata (RFC 9728) by which clients such as MCP's find the authority and the scopes, at \
        /.well-known/oauth-protected-resource with the route's path behind it.
        """),
    ])

  static let adminBearer = SectionShape([
    Row(
      .authority, .url, isRequired: true,
      "The issuer: one tenant of Microsoft Entra (tokens of version 1.0 and 2.0), or any OpenID Connect issuer."),
    Row(
      .audiences, .texts, isRequired: true,
      "The token must be for one of these. In one tenant of Entra, a client id and api://CLIENT-ID are the same."),
    Row(.caFile, .file, "PEM: certification authorities for the issuer, instead of the system's."),
  ])

  static let admin = SectionShape([
    Row(
      .address, .address, isRequired: true,
      "The address of the admin listener, such as unix:/run/bearer-proxy/admin.sock."),
    Row(.callers, .section(adminCallers), default: .section, "Who may call, and for what."),
  ])

  static let adminCallers = SectionShape([
    Row(
      .anyone, .boolean, default: .value("false"),
      "true: all who can connect may request /healthz, /readyz and /metrics. Control still needs the other rules."),
    Row(
      .unix, .section(unix), "Users and groups with control at a unix socket, besides the proxy's own user and root."),
    Row(.header, .section(header), "A field with a secret, for control."),
    Row(.bearer, .section(adminBearer), "The caller's bearer token, for control."),
  ])
}
