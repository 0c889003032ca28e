// The cure for each thing that `check --live`, `token` and the broker can find wrong. Pure; LiveCheck finds it.

import Configuration
import Glibc
import HTTP
import HTTPClient
import Identity
import Platform
import Proxy
import Telemetry
import Tokens

/// The cures for one route.
struct CheckAdvice {
  let commands: OperatorCommands
  let route: RouteSettings
  let application: ApplicationSettings?
  /// The thumbprint of the certificate that the application proves itself with, if it has one.
  var thumbprint: String?
  /// True if it is about the blueprint of the route's agent identity alone.
  var isAboutBlueprint = false

  private var agent: String? { isAboutBlueprint ? nil : route.token.issued?.agent }

  private var parts: [Cure.Part: String] {
    let name = application.map { "application '\($0.name)'" } ?? "the application"
    return [
      .blueprint: name, .application: agent.map { "agent \($0) of \(name)" } ?? name,
      .authority: application?.authority.value.description ?? "", .clientID: application?.clientID ?? "",
      .thumbprint: thumbprint ?? "",
    ]
  }

  /// The sentences, for this route and application.
  func words(_ cure: Cure, _ more: [Cure.Part: String] = [:]) -> String {
    cure.words(parts.merging(more) { $1 })
  }

  /// The cure for a token that was not obtained, or for the authority's metadata.
  func advice(_ error: AcquisitionError) -> String {
    if let identity = application?.managedIdentity, let advice = advice(error, identity) { return advice }
    return switch error.cause {
    case .proof(let source, let error): advice(source, error)
    case .unreached(let error): advice(error)
    case .assertion(.expired(let origin, _)), .actor(.expired(let origin, _)): advice(expired: origin)
    case .interaction(let required): commands.advice(required.reason, route: route.name)
    case .token(let failure): words(failure.refusal.map { cure($0) } ?? .providerTrouble)
    case .managedIdentity(.arcKey): words(.arcKey)
    case .managedIdentity(.notConfirmed): words(.arcIdentity)
    case .managedIdentity(.arcChallenge): words(.arcAgent)
    case .assertion(.unsigned): words(.proofSignature)
    case .assertion: words(.proofFile)
    case .actor: words(.proofActor)
    case .metadata, .document: words(error.isProviderUnavailable ? .providerTrouble : .providerMetadata)
    case .cacheUnread: words(.providerCache)
    case .refused: words(.callerToken)
    }
  }

  /// The cure for a proof of the application that was not handed out.
  private func advice(_ source: ClientProofSource, _ error: AcquisitionError) -> String {
    switch source {
    case .managedIdentity: return application?.machineIdentity.flatMap { advice(error, $0) } ?? advice(error)
    case .gcp: return words(.proofGCP)
    case .command(let program): return words(cure(command: error), [.program: program])
    case .githubActions: return words(.proofGitHubActions)
    case .application where agent != nil:
      if case .rejected(let reply) = error.kind, reply.error != "invalid_client" { return words(cure(reply)) }
      var blueprint = self
      blueprint.isAboutBlueprint = true
      return blueprint.advice(error)
    case .application(let name): return words(.proofApplication, [.blueprint: "application '\(name)'"])
    }
  }

  /// The cure for a failure of a managed identity's service; nil if the kind of service does not matter.
  private func advice(_ error: AcquisitionError, _ identity: ManagedIdentitySettings) -> String? {
    let cure: Cure? =
      switch (error.kind, error.cause) {
      case (.providerUnavailable(410), _): .identityUpdate
      case (.providerUnavailable(429), _): .identityPause
      case (.providerUnavailable(_?), _), (_, .unreached): .identityService
      case (.rejected, _): .identityAssignment
      default: nil
      }
    let names = identity.detection.evidence
    let leftovers = names.isEmpty ? "" : ", or were \(names.joined(separator: ", ")) left over from elsewhere"
    return cure.map { words($0, [.leftovers: leftovers]) }
  }

  /// The cure for a token of another issuer that has ended.
  func advice(expired origin: ClientAssertionOrigin) -> String {
    switch origin {
    case .file(let path): words(isProjected(path) ? .proofProjected : .proofAgent, [.file: path])
    case .program: words(.proofProgram)
    case .issuer: words(.proofIssuer)
    }
  }

  /// True if a file is one of a pod's projected volumes, by its place or by what named it.
  private func isProjected(_ path: String) -> Bool {
    if path.hasPrefix("/var/run/secrets/") || path.hasPrefix("/run/secrets/kubernetes.io/") { return true }
    guard case .assertionFile(let file)? = application?.credential else { return false }
    return file.file.value == path && !file.variables.isEmpty
  }

  /// The cure for a command that prints no JWT.
  private func cure(command error: AcquisitionError) -> Cure {
    switch error.cause {
    case .assertion(.command(.notStarted)): .commandStart
    case .assertion(.command(.timedOut)): .commandTime
    case .assertion(.expired): .commandExpiry
    default: .commandOutput
    }
  }

  private func cure(_ reply: TokenErrorReply) -> Cure {
    if reply.isWithoutCode { return cure(withoutCode: reply) }
    return switch reply.error {
    case TokenErrorReply.boundElsewhere: .boundTokens
    case "invalid_client" where reply.clockSkew != nil: .clock
    case "invalid_client" where agent != nil, "unauthorized_client" where agent != nil: .agent
    case "interaction_required" where agent != nil, "consent_required" where agent != nil: .agentConsent
    case "invalid_client" where application?.isKnownByHandshake == true: .handshakeCertificate
    case "invalid_client" where application?.assertionCommand != nil: .commandAssertion
    case "invalid_client" where application?.isProvenByOthers == true,
      "invalid_request" where application?.isProvenByOthers == true:
      .federatedCredential
    case "invalid_client": thumbprint == nil ? .clientSecret : .proofCertificate
    case "unauthorized_client": .grantType
    case "invalid_scope", "invalid_target", "invalid_resource": .scopes
    case "access_denied", "invalid_grant": .permission
    default: .otherCode
    }
  }

  /// The cure for an answer of the token endpoint without an OAuth error: only its status says what it may be about.
  private func cure(withoutCode reply: TokenErrorReply) -> Cure {
    switch reply.error {
    case "status 400", "status 401", "status 403": .credentialOrDevice
    case "status 407": .proxyPassword
    case "status 404", "status 405", "status 410", "status 301", "status 302", "status 303", "status 307", "status 308":
      .tokenEndpoint
    default: .otherStatus
    }
  }

  private func advice(_ error: FetchError) -> String {
    switch error {
    case .unresolved: words(.providerHost)
    case .unreachable(_, _, ECONNREFUSED): words(.providerRefused)
    case .unreachable, .timedOut: words(.providerFirewall)
    case .tls(_, _, let cause): advice(tls: cause, isProvider: true, wrongName: .tlsProviderName)
    case .answeredWithTLS: words(.providerHTTPS)
    case .proxy: words(.outboundProxy)
    case .closed, .malformed, .tooLarge: words(.providerAddress)
    }
  }

  /// The cure for the way to the upstream.
  func advice(_ error: UpstreamError) -> String {
    switch error {
    case .connect(.unresolved): words(.upstreamHost)
    case .connect(.forbiddenAddress): words(.forbiddenAddress)
    case .connect(.refused): words(.upstreamRefused)
    case .connect(.timedOut), .timedOut: words(.upstreamFirewall)
    case .proxyUnreachable, .proxy: words(.outboundProxy)
    case .withoutHTTP2: words(.withoutHTTP2)
    case .withoutWebSockets: words(.withoutWebSockets)
    case .tls(let error): advice(tls: error.cause, isProvider: false, wrongName: .tlsServerName)
    }
  }

  /// The cure for a handshake with the provider, or with the upstream.
  private func advice(tls cause: TLSFailure.Cause, isProvider: Bool, wrongName: Cure) -> String {
    let file = isProvider ? application?.caFile : route.tls.caFile
    let cure: Cure =
      switch cause {
      case .expired: .tlsExpired
      case .notYetValid: .tlsNotYetValid
      case .wrongName: wrongName
      case .unknownAuthority: file == nil ? .tlsAuthority : .tlsAuthorityInFile
      case .notTLS: .tlsNotTLS
      case .clientCertificate: .tlsClientCertificate
      case .nothingInCommon: .tlsNothingInCommon
      case .other: isProvider ? .tlsProvider : .tlsUpstream
      }
    return words(
      cure,
      [
        .peer: isProvider ? "provider" : "upstream", .address: isProvider ? "`authority`" : "`upstream`",
        .trust: "`tls: {ca_file: …}` of \(isProvider ? parts[.application] ?? "" : "the route")",
        .trustFile: file?.value ?? "",
      ])
  }

  /// The cure for a probe that got no answer.
  func advice(probe error: FetchError) -> String {
    switch error {
    case .answeredWithTLS: words(.upstreamHTTPS)
    case .closed, .malformed:
      words(route.upstream.value.scheme == .http ? .upstreamPlainProtocol : .upstreamProtocol)
    case .timedOut: words(.upstreamTime)
    case .tls(_, _, let cause): advice(tls: cause, isProvider: false, wrongName: .tlsUpstreamName)
    case .proxy: words(.outboundProxy)
    case .unresolved, .unreachable, .tooLarge: words(.upstreamPassed)
    }
  }

  /// The cure for a probe's answer; nil if the answer is good.
  func advice(status: Int) -> String? {
    switch status {
    case 200..<400: nil
    case 400 where route.upstream.value.scheme == .http: words(.probePlaintext)
    case 401: words(route.token.fixed != nil ? .probeField : application == nil ? .probeNoToken : .probeAudience)
    case 403: words(.probeScope)
    case 404, 405, 410: words(.probePath)
    case 429: words(.probePause)
    case 500...: words(.probeTrouble)
    default: words(.probeStatus)
    }
  }
}

extension OperatorCommands {
  /// The commands for these settings. `cache` is the one in use, which a reload does not change.
  init(_ settings: Settings, cache: CacheSettings, configuration: String) {
    var reachesCache = true
    if case .memory = cache { reachesCache = false }
    self.init(
      configuration: configuration, reachesCache: reachesCache,
      hasPages: settings.listeners.contains { $0.signIn != nil })
  }
}

extension LoadedConfiguration {
  /// The cures for a route.
  func advice(for route: RouteSettings, _ commands: OperatorCommands) -> CheckAdvice {
    CheckAdvice(
      commands: commands, route: route, application: route.application.flatMap { settings.application(named: $0) },
      thumbprint: route.application.flatMap { certificates.thumbprint(of: $0) })
  }
}

extension RouteSettings {
  /// The application whose token it adds.
  var application: String? { token.issued?.application }
}

extension WatchedCertificate {
  /// The cure for its dates.
  func cure(at now: UnixTime) -> Cure {
    if validity.state(at: now) == .notYetValid { return .earlyCertificate }
    return switch use {
    case .listener: .listenerCertificate
    case .application: .applicationCertificate
    case .client: .clientCertificate
    case .authority: .certificationAuthority
    case .collector: .collectorCertificate
    }
  }
}
