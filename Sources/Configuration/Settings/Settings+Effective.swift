// The list of everything that is in force and where it came from: what the file gives, what stands above the file, and
// the defaults of everything else.

internal import Bytes
internal import HTTP
internal import Routing
internal import Telemetry
internal import Tokens

extension Settings {
  /// Every value in force: those of the file in its order, then the defaults.
  /// - Parameter above: what the command line and the environment say instead of the file.
  package func effectiveValues(above: [ConfiguredValue] = []) -> [ConfiguredValue] {
    let overridden = Dictionary(above.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
    let given = self.given.map { overridden[$0.key] ?? $0 }
    var known = Set(given.map(\.key))
    let added = above.filter { known.insert($0.key).inserted }
    return given + added + defaults.filter { known.insert($0.key).inserted }
  }

  /// The values of every key that has a default.
  private var defaults: [ConfiguredValue] {
    var values = [
      ConfiguredValue("allow_readable_secrets", "false", .standard),
      ConfiguredValue("loops", loops.map(String.init) ?? "one for each core", .standard),
      ConfiguredValue("log.level", log.level.rawValue, .standard),
      ConfiguredValue("log.format", log.format.rawValue, .standard),
      ConfiguredValue("log.access", "\(log.access)", .standard),
      ConfiguredValue("log.access_file", "standard output", .standard),
      ConfiguredValue("log.identities", log.identities.rawValue, .standard),
      ConfiguredValue("limits.head_bytes", sizeText(limits.head.headBytes), .standard),
      ConfiguredValue("limits.target_bytes", sizeText(limits.head.targetBytes), .standard),
      ConfiguredValue("limits.field_count", "\(limits.head.fieldCount)", .standard),
      ConfiguredValue("limits.connections", "\(limits.connections)", .standard),
      ConfiguredValue("limits.caller_tokens", "\(limits.callerTokens)", .standard),
      ConfiguredValue("limits.unfinished", "\(limits.unfinished)", .standard),
      ConfiguredValue(
        "limits.body_bytes", limits.bodyBytes == .max ? "none" : sizeText(Int(clamping: limits.bodyBytes)), .standard),
      ConfiguredValue(
        "limits.caller_rate", limits.callerRate.map { sizeText(Int(clamping: $0)) } ?? "none", .standard),
      ConfiguredValue("ready_when", readyWhen.rawValue, .standard),
      ConfiguredValue("shutdown.delay", shutdown.delay == .zero ? "none" : durationText(shutdown.delay), .standard),
      ConfiguredValue("shutdown.grace", durationText(limits.grace), .standard),
      ConfiguredValue("shutdown.limit", durationText(shutdown.limit), .standard),
    ]
    switch cache {
    case .memory: values.append(ConfiguredValue("cache.memory", "true", .standard))
    case .file: break
    case .redis(let redis):
      values.append(ConfiguredValue("cache.key_prefix", redis.server.value.keyPrefix, .standard))
      values.append(ConfiguredValue("cache.allow_plaintext", "false", .standard))
    }
    values += Self.timeoutValues(timeouts, "defaults.timeouts", .standard)
    values.append(
      ConfiguredValue("defaults.timeouts.request_head", durationText(limits.requestHead), .standard))
    for index in listeners.indices {
      values.append(ConfiguredValue("listeners[\(index)].callers.anyone", "false", .standard))
      values.append(ConfiguredValue("listeners[\(index)].hand_out", HandOut.none.rawValue, .standard))
    }
    if admin != nil { values.append(ConfiguredValue("admin.callers.anyone", "false", .standard)) }
    for application in applications {
      let proxy = application.proxy.proxy(for: application.authority.value.url)
      values.append(
        ConfiguredValue(
          "applications.\(application.name).proxy", proxy?.description ?? "none",
          proxy?.variable.map { .variable($0) } ?? .standard))
      if application.managedIdentity == nil {
        values.append(ConfiguredValue("applications.\(application.name).offline_access", "true", .standard))
      }
      let redirectURI: RedirectURIChoice = application.callback == .shared ? .shared : .own
      values.append(ConfiguredValue("applications.\(application.name).redirect_uri", redirectURI.rawValue, .standard))
    }
    for (index, route) in routes.enumerated() { values += Self.values(of: route, "routes[\(index)]") }
    return values
  }

  private static func values(of route: RouteSettings, _ path: String) -> [ConfiguredValue] {
    var values = [
      ConfiguredValue("\(path).methods", "every method", .standard),
      ConfiguredValue("\(path).encoded_path", "none", .standard),
      ConfiguredValue("\(path).preserve_host", "\(route.preserveHost)", .standard),
      ConfiguredValue("\(path).allow_plaintext", "\(route.allowPlaintext)", .standard),
      ConfiguredValue(
        "\(path).proxy", route.proxy?.description ?? "none", route.proxy?.variable.map { .variable($0) } ?? .standard),
    ]
    if let methods = route.methods, !methods.isEmpty { values.removeFirst() }
    if route.token != .none {
      let rules = route.tokenRules
      values += [
        ConfiguredValue("\(path).hand_out", HandOut.none.rawValue, .standard),
        ConfiguredValue("\(path).token.as", "account", .standard),
        ConfiguredValue("\(path).token.replay_limit", sizeText(Int(clamping: rules.replayLimit)), .standard),
        ConfiguredValue("\(path).token.existing", rules.existing.rawValue, .standard),
        ConfiguredValue("\(path).token.when_unavailable", rules.whenUnavailable.rawValue, .standard),
        ConfiguredValue("\(path).token.on_interaction_required", rules.onInteractionRequired.rawValue, .standard),
      ]
    }
    // Trust is inherited too, and is what a reviewer looks for.
    for (key, file) in [
      ("tls.ca_file", route.tls.caFile), ("tls.certificate_file", route.tls.clientCertificate?.certificateFile),
      ("tls.key_file", route.tls.clientCertificate?.keyFile),
    ] {
      if let file { values.append(ConfiguredValue("\(path).\(key)", file.value, .inherited("defaults.\(key)"))) }
    }
    values += timeoutValues(route.timeouts, "\(path).timeouts", nil)
    values.append(
      ConfiguredValue("\(path).pool.max_idle", "\(route.pool.maximumIdle)", .inherited("defaults.pool.max_idle")))
    values.append(
      ConfiguredValue(
        "\(path).pool.idle_timeout", durationText(route.pool.idleTimeout), .inherited("defaults.pool.idle_timeout")))
    return values
  }

  /// Time limits that routes have too; without a source, they come from `defaults`.
  private static func timeoutValues(
    _ timeouts: ExchangeTimeouts, _ path: String, _ source: ValueSource?
  ) -> [ConfiguredValue] {
    [
      ("connect", durationText(timeouts.connect)), ("response_head", durationText(timeouts.responseHead)),
      ("idle", durationText(timeouts.idle)), ("exchange", timeouts.whole.map(durationText) ?? "none"),
    ].map { key, value in
      ConfiguredValue("\(path).\(key)", value, source ?? .inherited("defaults.timeouts.\(key)"))
    }
  }
}
