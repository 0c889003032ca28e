internal import Bytes
internal import Identity
internal import Routing
internal import Telemetry
internal import Tokens

/// One route in `/status`: a line for people, and the members of a JSON object. Never a token.
struct RouteStatus {
  let route: Route
  let now: UnixTime
  /// nil for a route without a token.
  let token: TokenStatus?
  let need: SignInRequirement?
  let upstream: UpstreamCondition.Failure?
  /// The address for a person to sign in; nil if there are no pages.
  let link: String?
  /// The operator's command; nil if none can help.
  let command: String?
  /// nil if the route has no token file.
  var file: TokenFileStatus?

  var condition: RouteCondition { RouteCondition(token: token, need: need, upstream: upstream, now: now) }

  var line: String {
    guard let file else { return state }
    if let reason = file.reason { return "\(state); \(file.path) cannot be written: \(reason)" }
    return file.expiresAt == nil ? "\(state); \(file.path) is removed" : "\(state); in \(file.path)"
  }

  private var state: String {
    switch condition {
    case .ready: "ready, \(ready)"
    case .refreshing:
      isServing
        ? "refreshing the token, \(served)" : "waiting for the \(token?.expiresAt == nil ? "first" : "next") token"
    case .signInNeeded(.accountAmbiguous):
      "needs a choice: \(InteractionReason.accountAmbiguous.clause); name one under the route's 'token'\(stillServed)"
    case .signInNeeded(let reason): "needs a sign-in\(person): \(reason.clause); \(remedy)\(stillServed)"
    case .moreProofNeeded(let need):
      "needs a sign-in\(person): the upstream asks for \(need.words); \(remedy)\(stillServed)"
    case .cacheUnavailable(let since):
      "token cache unreadable \(words(since: since, now: now)), so who is signed in is not known\(stillServed)"
    case .providerDown(let since): "provider down \(words(since: since, now: now)): \(failure)\(stillServed)"
    case .providerRefuses(let since): "provider refuses \(words(since: since, now: now)): \(failure)\(stillServed)"
    case .upstreamFailing(let since): "upstream failing \(words(since: since, now: now)): \(upstream?.reason ?? "")"
    }
  }

  private var isServing: Bool { token?.isReady(at: now) ?? false }

  private var ready: String {
    guard let token else { return route.fixedCredential.map { "adds \($0.name.text)" } ?? "adds no token" }
    if token.subject.isCaller { return "each caller's own token is exchanged" }
    let owner = (accountName ?? token.agent.map { "agent \($0)" }).map { " of \($0)" } ?? ""
    guard let end = token.expiresAt, isServing else { return "a token\(owner) is obtained when one is asked for" }
    return "token\(owner)\(former) for \(words(seconds: end - now))"
  }

  private var served: String {
    token?.expiresAt.map { "the held one\(former) serves for \(words(seconds: $0 - now))" } ?? ""
  }

  private var stillServed: String {
    guard isServing, let end = token?.expiresAt else { return "" }
    return "; the held token\(former) serves for \(words(seconds: end - now))"
  }

  /// True if the held token serves until a changed credential has obtained one.
  var isOfFormerCredential: Bool { isServing && token?.isOfFormerCredential == true }

  /// The remark on a held token while a changed credential has obtained none.
  private var former: String { isOfFormerCredential ? ", obtained with the former credential," : "" }

  private var person: String { accountName.map { " of \($0)" } ?? "" }

  /// The account: as written in the route, or the one that is signed in.
  private var accountName: String? {
    switch token?.subject {
    case .account(let written): written ?? token?.account.map { $0.name }
    case .agentUser(let user): user
    case nil, .application, .caller: nil
    }
  }

  private var remedy: String {
    let ways = [link.map { "open \($0)" }, command.map { "run '\($0)'" }].compactMap(\.self)
    return ways.isEmpty ? Cure.cacheFile.words() : ways.joined(separator: ", or ")
  }

  private var failure: String {
    guard let failure = token?.failure else { return "" }
    return "\(failure.error.detail); next attempt in \(words(seconds: failure.retryAt - now))"
  }

  /// The same for programs; deploy/operations.md describes it.
  var json: JSONValue {
    var members: [String: (any JSONMember)?] = [
      "name": route.name, "state": condition.state.rawValue, "line": line, "field": route.fixedCredential?.name.text,
      "token_file": file.map { JSONValue(["path": $0.path, "expires_on": $0.expiresAt, "reason": $0.reason]) },
      "upstream": upstream.map {
        JSONValue(["reason": $0.reason, "since": $0.since, "failures": Int64($0.count)])
      },
    ]
    if let token {
      members["application"] = token.application
      members["as"] = SentCredential(token.subject, isAgents: token.agent != nil).rawValue
      members["agent"] = token.agent
      members["account"] = accountName
      members["scopes"] = token.scopes.words
      let end = isServing ? token.expiresAt : nil
      members["token"] = JSONValue([
        "held": isServing, "refreshing": token.isRefreshing, "expires_on": end, "expires_in": end.map { $0 - now },
        "former_credential": end.map { _ in isOfFormerCredential },
      ])
      members["sign_in"] = signIn
      switch token.failure?.error.kind {
      case nil, .interactionRequired, .cacheUnavailable, .assertionRefused: break
      case .providerUnavailable, .rejected, .unusableMetadata:
        guard let failure = token.failure else { break }
        members["provider"] = JSONValue([
          "reason": failure.error.reason, "detail": failure.error.detail, "since": failure.since,
          "retry_in": max(failure.retryAt - now, 0),
        ])
      }
    }
    return JSONValue(members)
  }

  /// The reason and address of a required sign-in.
  private var signIn: JSONValue? {
    var members: [String: (any JSONMember)?] = ["command": command, "link": link]
    switch condition {
    case .signInNeeded(let reason):
      members["reason"] = reason.rawValue
      members["claims"] = token?.failure?.error.interactionRequired?.claims?.text
    case .moreProofNeeded(let need):
      members["reason"] = "upstream_challenge"
      members.merge(need.json.members ?? [:]) { own, _ in own }
    default: return nil
    }
    return JSONValue(members)
  }
}

/// The condition of a route: of its faults, the most important one. The cases are in that order.
enum RouteCondition: Hashable {
  /// A person has to sign in. Held tokens may still serve.
  case signInNeeded(InteractionReason)
  /// An account is signed in, but an API or the provider requires more than that sign-in proved.
  case moreProofNeeded(SignInRequirement)
  /// The cache cannot be read, so it is not known who is signed in.
  case cacheUnavailable(since: UnixTime)
  /// The provider does not answer, or with a server error.
  case providerDown(since: UnixTime)
  /// The provider refuses the application, or the server at its address is no provider.
  case providerRefuses(since: UnixTime)
  /// The upstream cannot be reached, or breaks off.
  case upstreamFailing(since: UnixTime)
  /// A token is being obtained; the status shows if the one before still serves.
  case refreshing
  case ready

  /// - Parameters:
  ///   - token: the status of the route's token; nil for a route without one.
  ///   - need: the remembered requirement for a sign-in.
  ///   - upstream: the upstream's failure.
  init(token: TokenStatus?, need: SignInRequirement?, upstream: UpstreamCondition.Failure?, now: UnixTime) {
    if let required = token?.failure?.error.interactionRequired {
      self = .signInNeeded(required.reason)
    } else if let need, token != nil {
      self = .moreProofNeeded(need)
    } else if let failure = token?.failure {
      switch failure.error.kind {
      case .cacheUnavailable: self = .cacheUnavailable(since: failure.since)
      case .providerUnavailable: self = .providerDown(since: failure.since)
      case .rejected, .unusableMetadata, .interactionRequired, .assertionRefused:
        self = .providerRefuses(since: failure.since)
      }
    } else if let upstream {
      self = .upstreamFailing(since: UnixTime(upstream.since))
    } else if let token, token.isRefreshing || (token.subject.isUnattended && token.expiresAt == nil) {
      self = .refreshing
    } else {
      self = .ready
    }
  }

  /// The same for programs.
  var state: RouteState {
    switch self {
    case .signInNeeded, .moreProofNeeded: .signInNeeded
    case .cacheUnavailable: .cacheUnavailable
    case .providerDown: .providerDown
    case .providerRefuses: .providerRefuses
    case .upstreamFailing: .upstreamFailing
    case .refreshing: .refreshing
    case .ready: .ready
    }
  }
}
