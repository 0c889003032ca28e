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

  private var parts: CureParts {
    var parts = CureParts()
    let name = application.map { "application '\($0.name)'" } ?? "the application"
    parts.blueprint = name
    parts.application = agent.map { "agent \($0) of \(name)" } ?? name
    parts.clientID = application?.clientID ?? ""
    parts.thumbprint = thumbprint ?? ""
    return parts
  }

  private func words(_ cure: ProviderCure) -> String { cure.words(parts) }

  /// The cure for a token that was not obtained, or for the authority's metadata.
  func advice(_ error: AcquisitionError) -> String {
    if let identity = application?.managedIdentity, let advice = advice(error, identity) { return advice }
    switch error.cause {
    case .proof(let source, let error): return advice(source, error)
    case .unreached(let error): return advice(error)
    case .assertion(.expired(let origin, _)), .actor(.expired(let origin, _)): return advice(expired: origin)
    case .interaction(let required): return commands.advice(required.reason, route: route.name)
    case .token(let failure): return words(failure.refusal.map { cure($0) } ?? .trouble)
    case .managedIdentity(.arcKey): return words(.arcKey)
    case .managedIdentity(.notConfirmed): return words(.arcIdentity)
    case .managedIdentity(.arcChallenge): return words(.arcAgent)
    case .assertion(.unsigned): return words(.signature)
    case .assertion: return words(.assertionFile)
    case .actor: return words(.actor)
    case .metadata, .document: return words(error.isProviderUnavailable ? .trouble : .metadata)
    case .cacheUnread: return words(.cache)
    case .refused: return words(.callerToken)
    }
  }

  /// The cure for a proof of the application that was not handed out.
  private func advice(_ source: ClientProofSource, _ error: AcquisitionError) -> String {
    switch source {
    case .managedIdentity: return application?.machineIdentity.flatMap { advice(error, $0) } ?? advice(error)
    case .gcp: return words(.gcp)
    case .command(let program):
      var parts = parts
      parts.program = program
      return cure(command: error).words(parts)
    case .githubActions: return words(.githubActions)
    case .application where agent != nil:
      if case .rejected(let reply) = error.kind, reply.error != "invalid_client" { return words(cure(reply)) }
      var blueprint = self
      blueprint.isAboutBlueprint = true
      return blueprint.advice(error)
    case .application(let name):
      var parts = parts
      parts.blueprint = "application '\(name)'"
      return ProviderCure.otherApplication.words(parts)
    }
  }

  /// The cure for a failure of a managed identity's service; nil if the kind of service does not matter.
  private func advice(_ error: AcquisitionError, _ identity: ManagedIdentitySettings) -> String? {
    let names = identity.detection.evidence
    var parts = parts
    if !names.isEmpty { parts.leftovers = ", or were \(names.joined(separator: ", ")) left over from elsewhere" }
    let cure: ProviderCure? =
      switch (error.kind, error.cause) {
      case (.providerUnavailable(410), _): .identityUpdate
      case (.providerUnavailable(429), _): .identityPause
      case (.providerUnavailable(_?), _), (_, .unreached): .identityService
      case (.rejected, _): .identityAssignment
      default: nil
      }
    return cure?.words(parts)
  }

  /// The cure for a token of another issuer that has ended.
  func advice(expired origin: ClientAssertionOrigin) -> String {
    switch origin {
    case .file(let path):
      var parts = parts
      parts.file = path
      return (isProjected(path) ? ProviderCure.projectedToken : .tokenFile).words(parts)
    case .program: return words(.program)
    case .issuer: return words(.issuer)
    }
  }

  /// True if a file is one of a pod's projected volumes, by its place or by what named it.
  private func isProjected(_ path: String) -> Bool {
    if path.hasPrefix("/var/run/secrets/") || path.hasPrefix("/run/secrets/kubernetes.io/") { return true }
    guard case .assertionFile(let file)? = application?.credential else { return false }
    return file.file.value == path && !file.variables.isEmpty
  }

  /// The cure for a command that prints no JWT.
  private func cure(command error: AcquisitionError) -> ProviderCure {
    switch error.cause {
    case .assertion(.command(.notStarted)): .commandStart
    case .assertion(.command(.timedOut)): .commandTime
    case .assertion(.expired): .commandExpiry
    default: .commandOutput
    }
  }

  private func cure(_ reply: TokenErrorReply) -> ProviderCure {
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
    case "invalid_client": thumbprint == nil ? .clientSecret : .certificate
    case "unauthorized_client": .grantType
    case "invalid_scope", "invalid_target", "invalid_resource": .scopes
    case "access_denied", "invalid_grant": .permission
    default: .unknownCode
    }
  }

  /// The cure for an answer of the token endpoint without an OAuth error: only its status says what it may be about.
  private func cure(withoutCode reply: TokenErrorReply) -> ProviderCure {
    switch reply.error {
    case "status 400", "status 401", "status 403": .credentialOrDevice
    case "status 407": .proxyPassword
    case "status 404", "status 405", "status 410", "status 301", "status 302", "status 303", "status 307", "status 308":
      .tokenEndpoint
    default: .unknownStatus
    }
  }

  private func advice(_ error: FetchError) -> String {
    switch error {
    case .unresolved: words(.host)
    case .unreachable(_, _, ECONNREFUSED): words(.refused)
    case .unreachable, .timedOut: words(.firewall)
    case .tls(_, _, let cause): tlsAdvice(cause, isProvider: true)
    case .answeredWithTLS: words(.https)
    case .proxy: words(.proxy)
    case .closed, .malformed, .tooLarge: words(.address)
    }
  }

  /// The cure for scopes that a provider does not accept.
  var scopesAdvice: String { words(.scopes) }

  /// The cure for an API whose tokens come from other providers than the route's.
  func otherProvider(_ issuers: [String]) -> String {
    "The API takes tokens of \(issuers.joined(separator: ", ")) and the authority of \(parts.application) is "
      + "\(application?.authority.value.description ?? ""): correct the authority, or ask the API's operator."
  }

  /// The cure for metadata that are not used.
  var descriptionAdvice: String {
    "Ask the API's operator about its metadata (RFC 9728). Tokens do not depend on them."
  }

  /// The cure for a redirect URI that a provider does not accept.
  func advice(redirectURI: String, isPage: Bool) -> String {
    var parts = parts
    parts.redirectURI = redirectURI
    return (isPage ? ProviderCure.redirectURI : .loopbackRedirectURI).words(parts)
  }

  /// The cure for the way to the upstream.
  func advice(_ error: UpstreamError) -> String {
    switch error {
    case .connect(.unresolved): UpstreamCure.host.words()
    case .connect(.forbiddenAddress): UpstreamCure.forbiddenAddress.words()
    case .connect(.refused): UpstreamCure.refused.words()
    case .connect(.timedOut), .timedOut: UpstreamCure.firewall.words()
    case .proxyUnreachable, .proxy: words(.proxy)
    case .withoutHTTP2: UpstreamCure.withoutHTTP2.words()
    case .withoutWebSockets: UpstreamCure.withoutWebSockets.words()
    case .tls(let error):
      tlsAdvice(error.cause, isProvider: false, wrongName: .serverName)
    }
  }

  /// The cure for a handshake with the provider, or with the upstream.
  private func tlsAdvice(_ cause: TLSFailure.Cause, isProvider: Bool, wrongName: TLSCure = .upstreamName) -> String {
    var parts = parts
    parts.peer = isProvider ? "provider" : "upstream"
    parts.address = isProvider ? "`authority`" : "`upstream`"
    parts.trust = "`tls: {ca_file: …}` of \(isProvider ? parts.application : "the route")"
    let file = isProvider ? application?.caFile : route.tls.caFile
    parts.trustFile = file?.value ?? ""
    let cure: TLSCure =
      switch cause {
      case .expired: .expired
      case .notYetValid: .notYetValid
      case .wrongName: isProvider ? .providerName : wrongName
      case .unknownAuthority: file == nil ? .authority : .authorityInFile
      case .notTLS: .notTLS
      case .clientCertificate: .clientCertificate
      case .nothingInCommon: .nothingInCommon
      case .other: isProvider ? .provider : .upstream
      }
    return cure.words(parts)
  }

  /// The cure for a probe that got no answer.
  func advice(probe error: FetchError) -> String {
    switch error {
    case .answeredWithTLS: UpstreamCure.https.words()
    case .closed, .malformed: (route.upstream.value.scheme == .http ? UpstreamCure.protocolOrTLS : .http2).words()
    case .timedOut: UpstreamCure.responseTime.words()
    case .tls(_, _, let cause): tlsAdvice(cause, isProvider: false)
    case .proxy: words(.proxy)
    case .unresolved, .unreachable, .tooLarge: UpstreamCure.passed.words()
    }
  }

  /// The cure for a probe's answer; nil if the answer is good.
  func advice(status: Int) -> String? {
    let cure: UpstreamCure
    switch status {
    case 200..<400: return nil
    case 400 where route.upstream.value.scheme == .http: cure = .plaintext
    case 401: cure = route.token.fixed != nil ? .fixedField : application == nil ? .noToken : .audience
    case 403: cure = .scope
    case 404, 405, 410: cure = .path
    case 429: cure = .pause
    case 500...: cure = .trouble
    default: cure = .unknownStatus
    }
    return cure.words()
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
  func nextStep(at now: UnixTime) -> NextStep {
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
