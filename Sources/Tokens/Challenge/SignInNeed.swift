// Owns what is remembered of refusals until somebody signs in: what the sign-in has to bring. Never a token.

public import Bytes

/// What a sign-in has to bring so that an API, or the provider, is content.
public struct SignInNeed: Sendable, Hashable {
  /// Claims to ask for.
  public var claims: Claims?
  /// Scopes beside the route's.
  public var scopes: ScopeSet
  /// Authentication contexts, most wanted first (RFC 9470).
  public var authenticationContexts: [String]
  /// Seconds for which an earlier sign-in still counts (RFC 9470).
  public var maxAge: Int64?
  /// When it was heard of last.
  public var since: UnixTime

  /// Seconds after which a need is forgotten: whoever still has it says so again.
  public static let lifetime: Int64 = 24 * 3600
  private static let scopeLimit = 64

  /// A need.
  public init(
    claims: Claims? = nil, scopes: ScopeSet = .none, authenticationContexts: [String] = [], maxAge: Int64? = nil,
    since: UnixTime
  ) {
    self.claims = claims
    self.scopes = scopes
    self.authenticationContexts = authenticationContexts
    self.maxAge = maxAge
    self.since = since
  }

  /// Whether nothing is needed.
  public var isEmpty: Bool {
    claims == nil && scopes.isEmpty && authenticationContexts.isEmpty && maxAge == nil
  }

  /// Whether it is over at an instant.
  public func isOver(at now: UnixTime) -> Bool { !(-60..<Self.lifetime).contains(now - since) }

  /// This need and a later one: both sets of scopes, claims merged, otherwise what was said last.
  public func merged(with later: SignInNeed) -> SignInNeed {
    var need = later
    if let claims { need.claims = later.claims.map { claims.merged(with: $0) } ?? claims }
    let union = scopes.union(later.scopes)
    need.scopes = union.words.count <= Self.scopeLimit ? union : later.scopes
    if later.authenticationContexts.isEmpty { need.authenticationContexts = authenticationContexts }
    need.maxAge = later.maxAge ?? maxAge
    return need
  }

  /// Whether two needs ask for the same, whenever they were heard of.
  public func asksTheSame(as other: SignInNeed) -> Bool {
    var copy = other
    copy.since = since
    return self == copy
  }

  /// Whether a sign-in that was asked for this much brings everything.
  public func isMet(by sign: SignInNeed) -> Bool {
    (claims == nil || claims == sign.claims) && scopes.isCovered(by: sign.scopes)
      && authenticationContexts == sign.authenticationContexts && maxAge == sign.maxAge
  }
}

extension SignInNeed {
  /// What is needed, in words for operators: the end of a sentence.
  public var words: String {
    var wishes: [String] = []
    if claims != nil { wishes.append("more proof (claims)") }
    if !scopes.isEmpty { wishes.append("the scopes \(scopes)") }
    if !authenticationContexts.isEmpty {
      wishes.append("another way to authenticate (\(authenticationContexts.joined(separator: " ")))")
    }
    if let maxAge { wishes.append("a sign-in not older than \(maxAge) s") }
    return wishes.joined(separator: ", ")
  }

  /// The need that a JSON object spells; nil where it spells none.
  public init?(_ value: JSONValue) {
    guard let members = value.members, let since = members["since"]?.seconds else { return nil }
    var words: [String: [String]] = [:]
    for name in ["scopes", "acr_values"] {
      if case .array(let values) = members[name] { words[name] = values.compactMap(\.text) }
    }
    do throws(ScopeSetError) {
      self.init(
        scopes: try ScopeSet(words["scopes"] ?? []), authenticationContexts: words["acr_values"] ?? [],
        maxAge: members["max_age"]?.seconds, since: UnixTime(since))
    } catch {
      return nil
    }
    guard let text = members["claims"]?.text else { return }
    do throws(ClaimsError) { claims = try Claims(json: text) } catch { return nil }
  }

  /// As a JSON object.
  public var json: JSONValue {
    var members: [String: JSONValue] = ["since": .integer(since.seconds)]
    members["claims"] = claims.map { .string($0.text) }
    if !scopes.isEmpty { members["scopes"] = .array(scopes.words.map(JSONValue.string)) }
    if !authenticationContexts.isEmpty {
      members["acr_values"] = .array(authenticationContexts.map(JSONValue.string))
    }
    members["max_age"] = maxAge.map(JSONValue.integer)
    return .object(members)
  }
}
