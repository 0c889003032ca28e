internal import HTTP
internal import Routing
internal import Telemetry

extension SectionShape {
  static let file = SectionShape([
    Row(.listeners, .sections(listener), isRequired: true, "The addresses for callers. At least one."),
    Row(.loops, .integer(1...256), default: .words("one for each core"), "Event loops."),
    Row(
      .admin, .section(admin),
      """
      The admin listener: health, readiness and metrics for all who may call, /status for processes of this machine. \
      Control (/config, /log, /quitquitquit) is for the proxy's own user and root at a unix socket, and for callers \
      that satisfy all rules under callers. Default: no admin listener.
      """),
    Row(
      .log, .section(log), default: .section,
      """
      Logs: one access record per request to standard output, everything else to standard error. A reload changes \
      these settings. POST /log?level=debug on the admin listener, by a caller with control, changes the level until \
      then.
      """),
    Row(.cache, .section(cache), default: .section, "The store of tokens. Default: in memory."),
    Row(.limits, .section(limits), default: .section, "Limits for callers."),
    Row(
      .shutdown, .section(shutdown), default: .section,
      """
      What happens on SIGTERM, SIGINT, and POST /quitquitquit by a caller with control. A second signal ends the \
      process at once.
      """),
    Row(
      .applications, .namedSections(application),
      "Applications as registered at their identity providers, under the names that routes use."),
    Row(.defaults, .section(defaults), default: .section, "Defaults for all routes."),
    Row(
      .routes, .sections(route), isRequired: true,
      """
      Which requests go where, with which token. The longest matching path wins; a route with a matching host wins \
      over one without. Two routes that match the same requests are an error.
      """),
    Row(
      .allowReadableSecrets, .boolean, default: .value("false"),
      """
      Accept files with secrets and private keys that all users of this machine can read, such as those that some \
      container engines mount, and warn of files that they can write. Otherwise both are errors.
      """),
    Row(
      .readyWhen, .choice(ReadinessRule.self), default: .value("tokens"),
      """
      What /readyz waits for. started: for nothing more. tokens: until every route with `as: application` or `as: \
      agent` has had a token once. people: until the routes of people have had one, too, so that someone has signed in \
      for each; not for a proxy at whose own pages people sign in. It stays ready then: a provider that goes down \
      later, or a route that a reload adds, does not change that.
      """),
  ])

  static let log = SectionShape([
    Row(
      .level, .choice(LogLevel.self), default: .value(LogSettings().level.rawValue),
      "The lowest severity: debug, info, warning or error."),
    Row(
      .format, .choice(LogFormat.self), default: .value(LogSettings().format.rawValue),
      "json: one object per line. text: one line for people."),
    Row(.access, .boolean, default: .value("true"), "Whether each request gets an access record."),
    Row(
      .accessFile, .file, default: .words("standard output"),
      "The file for access records, opened again on SIGUSR1 and after it was moved."),
    Row(
      .identities, .choice(RecordedIdentities.self), default: .value(LogSettings().identities.rawValue),
      "How access records name accounts and callers: none, hashed (SHA-256) or plain."),
  ])

  static let cache = SectionShape([
    Row(
      .file, .file, without: [.memory, .redis],
      """
      A file that every MSAL on this machine may share, such as Azure CLI's ~/.azure/msal_token_cache.json. A missing \
      file is created with mode 0600. Other users must not be able to write it, and its directory must not be writable \
      for all.
      """),
    Row(
      .keyFile, .file,
      """
      Encrypts the cache in its file or on its Redis server: a file with one or two keys of 32 bytes in Base64, one on \
      each line. The first encrypts, both decrypt. MSAL libraries cannot share an encrypted file.
      """),
    Row(
      .memory, .choice(["true"]), default: .value("true"), without: [.file, .redis],
      "Tokens are kept in this process, until it ends."),
    Row(
      .redis, .pattern(#"^([Rr][Ee][Dd][Ii][Ss][Ss]?://.+|.*\$\{.*)$"#),
      """
      A server with the Redis protocol (redis-server, valkey) that replicas on several machines share: host, port and \
      database number. rediss:// uses TLS; redis:// is for loopback addresses. With sentinel or cluster, several hosts \
      may be named, separated by commas.
      """),
    Row(
      .sentinel, .text, beside: .redis, without: [.cluster],
      """
      The name of the primary that the sentinels watch. The hosts in redis are then sentinels; the default port is \
      26379.
      """),
    Row(
      .sentinelUser, .text, beside: .sentinel,
      "The user of the sentinels' access control list. Default: the sentinels' own default user."),
    Row(
      .sentinelPassword, .text, beside: .sentinel, without: [.sentinelPasswordFile],
      "The sentinels' password; take it from the environment."),
    Row(
      .sentinelPasswordFile, .file, beside: .sentinel,
      "A file that holds the sentinels' password. Line breaks at its end are ignored."),
    Row(
      .cluster, .boolean, default: .value("false"), beside: .redis,
      "The hosts in redis are nodes of a cluster. The other nodes are found through them."),
    Row(
      .entra, .text, beside: .redis, without: [.password, .passwordFile],
      """
      The application whose own tokens take the place of a password, as Azure Managed Redis demands it. Its tokens are \
      kept in memory. The server must use TLS, or be on a loopback address.
      """),
    Row(
      .user, .text, beside: .redis,
      """
      The user of the server's access control list. Default: the server's own default user; with entra the object id \
      that the token names.
      """),
    Row(
      .password, .text, beside: .redis, without: [.passwordFile],
      "That user's password; take it from the environment."),
    Row(.passwordFile, .file, beside: .redis, "A file that holds the password. Line breaks at its end are ignored."),
    Row(.keyPrefix, .text, default: .value("bearer-proxy:"), beside: .redis, "The prefix of every key on the server."),
    Row(
      .allowPlaintext, .boolean, default: .value("false"), beside: .redis,
      "Send tokens without TLS to a redis:// server that is not on a loopback address."),
    Row(.tls, .section(upstreamTLS), beside: .redis, "TLS to a rediss:// server."),
  ])

  static let limits = SectionShape([
    Row(
      .headBytes, .size((4 << 10)...(1 << 20)), default: .value(sizeText(HeadLimits().headBytes)),
      "The head of a request or response. More is answered with 431 (or 414)."),
    Row(
      .targetBytes, .size((1 << 10)...(1 << 20)), default: .value(sizeText(HeadLimits().targetBytes)),
      "The target of a request (path and query), no more than head_bytes. More is answered with 414."),
    Row(
      .fieldCount, .integer(10...1000), default: .value("\(HeadLimits().fieldCount)"),
      "Fields of a head. More is answered with 431."),
    Row(
      .connections, .integer(1...1_000_000), default: .value("\(ServiceLimits().connections)"),
      """
      Open connections from callers, in the whole process. At the limit, a new connection replaces the one that has \
      waited longest for a request. If all are busy, the new one waits. Each request takes a second file descriptor \
      for its upstream: if there are too few, the limit is lower, and a warning at the start says so. Memory for each: \
      8 KiB while it waits for a request (24 KiB over TLS), 26 KiB with a request (42 KiB over TLS), and a buffer for \
      content that it reads or sends slowly: 64 KiB for the first 256, 16 KiB up to 2048, 4 KiB beyond.
      """),
    Row(
      .streams, .integer(1...1000), default: .value("\(ServiceLimits().streams)"),
      """
      Requests at once on a connection of HTTP/2. Each beyond the first counts as one of `connections`; if there is \
      no room, it is refused, and the caller may repeat it. A request that the caller resets counts until its upstream \
      connection has ended. Memory for each: as for a connection, and up to 64 KiB for content in each direction.
      """),
    Row(
      .bodyBytes, .size(0...(1 << 50), orNone: true), default: .value("none"),
      "The body of a request. More is answered with 413."),
    Row(
      .callerRate, .size(1...(1 << 30), orNone: true), default: .value(sizeText(Int(ServiceLimits().callerRate ?? 0))),
      """
      How much of a body a caller must send per second, or how much of a response it must read, while the proxy waits \
      only for the caller. The average over `idle` counts. none: one byte within each `idle` is enough. A slower \
      caller gets 408, or its connection is closed.
      """),
    Row(
      .callerTokens, .integer(16...1_000_000), default: .value("\(ServiceLimits().callerTokens)"),
      """
      Callers whose tokens are kept for routes with `as: caller`, and callers' tokens that each event loop believes \
      without another look. The one that was not used for longest makes room. One needs up to 6 KiB (measured with one \
      event loop and tokens of 1 KiB), so 8192 need 48 MiB at most. Each further loop keeps entries of its own.
      """),
    Row(
      .unfinished, .integer(1...1_000_000), default: .value("\(ServiceLimits().unfinished)"),
      """
      Connections, in the whole process, that are in a TLS handshake or have sent part of a request's head. At the \
      limit, a new one replaces the oldest. Each needs at most 60 KiB (handshake) or 30 KiB plus `head_bytes` (head) \
      of memory.
      """),
  ])

  static let shutdown = SectionShape([
    Row(
      .delay, .anyDurationOrNone, default: .value("none"),
      """
      How long new connections are still accepted while /readyz already says 503, so that load balancers notice. \
      Responses say `Connection: close` from the start. Part of `limit`.
      """),
    Row(
      .grace, .anyDuration, default: .value(durationText(ServiceLimits().grace)),
      """
      After the delay no connection is accepted. How long a connection without a request is kept then: one may be on \
      its way. A TLS handshake that has begun may take its `request_head`.
      """),
    Row(
      .limit, .anyDuration, default: .value(durationText(ShutdownSettings().limit)),
      """
      The limit for all of this. Requests in flight are completed. Then everything left is cut off, WebSockets with a \
      close frame (1001).
      """),
  ])
}
