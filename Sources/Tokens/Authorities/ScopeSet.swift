/// A text that is no scope set, or scopes that cannot be requested.
public enum ScopeError: Error, Sendable, Hashable {
  /// Not a `scope-token` of RFC 6749 §3.3: empty, or with a space, quote, backslash, control or non-ASCII character.
  case word(String)
  // By an application for itself (`Authority.checkForApplication`).
  /// Entra takes exactly one scope: one access token serves one resource.
  case notOneScope(count: Int)
  /// Entra takes `<resource>/.default` (AADSTS1002012).
  case notDefault(String)
  /// The authority is `common`, `organizations` or `consumers`: no tenant there knows the application.
  case tenantNotSpecific
  // For a person (`Authority.checkForAccount`).
  /// One of `ScopeSet.reserved`: it describes the sign-in, every request has it, and it belongs to no API.
  case reserved(String)
  /// `<resource>/.default` beside others: Entra takes it alone (AADSTS70011).
  case defaultNotAlone(String)
  /// Scopes of several APIs: one access token is for one.
  case severalResources(String, String)
  /// None, at a provider that then gives a token for no API in particular.
  case none
}

/// Scopes without order and repetition (RFC 6749 §3.3), kept sorted by code point as the unified cache's `target` is.
///
/// Equality keeps letter case, as identity providers may; covering (`isCovered`) ignores it, as they do in practice.
public struct ScopeSet: Sendable, Hashable, CustomStringConvertible {
  /// The scopes, each once, in ascending order of their bytes.
  public let words: [String]

  /// No scopes: the provider decides.
  public static let none = ScopeSet(validated: [])

  /// A token that opens a Redis server of Azure.
  package static let azureRedis = ScopeSet(validated: ["https://redis.azure.com/.default"])

  package init(_ words: some Sequence<String>) throws(ScopeError) {
    var unique: Set<String> = []
    for word in words {
      guard Self.isScopeToken(word) else { throw .word(word) }
      unique.insert(word)
    }
    self.init(validated: unique)
  }

  /// The words of a `scope` parameter or a cache's `target`: anything between spaces.
  package init(parameter: String) throws(ScopeError) {
    try self.init(parameter.split(separator: " ").map(String.init))
  }

  /// The same; nil if there are none, or a word that is none.
  init?(named parameter: String?) {
    self.init(ifValid: (parameter ?? "").split(separator: " ").map(String.init))
    if isEmpty { return nil }
  }

  /// These words; nil if one of them is no scope.
  init?(ifValid words: [String]) {
    do throws(ScopeError) { try self.init(words) } catch { return nil }
  }

  /// - Parameter unique: words that are scopes for sure.
  init(validated unique: Set<String>) {
    words = unique.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  // scope-token = 1*( %x21 / %x23-5B / %x5D-7E )
  private static func isScopeToken(_ word: String) -> Bool {
    !word.isEmpty && word.utf8.allSatisfy { $0 == 0x21 || (0x23...0x5B).contains($0) || (0x5D...0x7E).contains($0) }
  }

  /// True if there are none.
  public var isEmpty: Bool { words.isEmpty }

  /// True if every scope of this set is in `other`, letter case aside: a token for `other` then serves this set.
  package func isCovered(by other: ScopeSet) -> Bool {
    let available = Set(other.words.map { $0.lowercased() })
    return words.allSatisfy { available.contains($0.lowercased()) }
  }

  package func union(_ other: ScopeSet) -> ScopeSet {
    ScopeSet(validated: Set(words).union(other.words))
  }

  /// Without one of them.
  package func subtracting(_ word: String) -> ScopeSet { filtered { $0 != word } }

  /// The scopes of this set that are in `other`, letter case aside.
  package func intersection(_ other: ScopeSet) -> ScopeSet {
    let available = Set(other.words.map { $0.lowercased() })
    return filtered { available.contains($0.lowercased()) }
  }

  func filtered(_ isIncluded: (String) -> Bool) -> ScopeSet {
    ScopeSet(validated: Set(words.filter(isIncluded)))
  }

  /// The scopes joined by single spaces: a `scope` parameter, a `target`.
  public var description: String { words.joined(separator: " ") }
}

extension ScopeSet {
  /// Scopes that every sign-in requests by itself (OpenID Connect Core 1.0 §5.4 and §11). Configurations and programs
  /// may not name them (MSAL's rule): as a route's scopes they would bring a token for another API, or none.
  package static let reserved = ["offline_access", "openid", "profile"]

  /// These scopes and the reserved ones, as sent for a person.
  package var decorated: ScopeSet { union(ScopeSet(validated: Set(Self.reserved))) }

  var reserved: ScopeSet {
    filtered { Self.reserved.contains($0.lowercased()) }
  }

  /// The first reserved scope among these, letter case aside.
  package var firstReserved: String? {
    words.first { Self.reserved.contains($0.lowercased()) }
  }
}

extension Authority {
  /// Refuses scopes that the provider would refuse: call it when the configuration is read.
  package func checkForApplication(_ scopes: ScopeSet) throws(ScopeError) {
    if case .entra(let tenant, _) = kind, !tenant.servesApplications { throw .tenantNotSpecific }
    guard isOfEntra else { return }
    guard scopes.words.count == 1 else { throw .notOneScope(count: scopes.words.count) }
    let scope = scopes.words[0]
    guard scope.hasSuffix("/.default"), scope.utf8.count > "/.default".utf8.count else { throw .notDefault(scope) }
  }

  /// Refuses scopes that would be refused, or bring a token for something else: for settings that are read.
  package func checkForAccount(_ scopes: ScopeSet) throws(ScopeError) {
    if let reserved = scopes.firstReserved { throw .reserved(reserved) }
    guard isOfEntra else { return }
    if scopes.isEmpty { throw .none }
    if scopes.words.count > 1, let all = scopes.words.first(where: { $0.hasSuffix("/.default") }) {
      throw .defaultNotAlone(all)
    }
    let resources = scopes.words.compactMap { resource(of: $0) }
    if let other = resources.first(where: { $0 != resources[0] }) { throw .severalResources(resources[0], other) }
  }

  /// The part of a scope that names its API for sure; nil if there is none. An API's own scope may contain a slash, so
  /// of a URL it is `https://host` or `api://name`.
  private func resource(of scope: String) -> String? {
    let parts = scope.lowercased().split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
    if parts.count > 2, parts[0].hasSuffix(":"), parts[1].isEmpty {
      let resource = parts[0...2].joined(separator: "/")
      let name = String(parts[2])
      return Self.graphNames.contains(name) ? Self.graph : parts[0] == "api:" && name.isGUID ? name : resource
    }
    let first = String(parts[0])
    if first.isGUID { return Self.graphNames.contains(first) ? Self.graph : first }
    // Without a slash: Microsoft Graph's, if the provider has such a default. `email` describes the person, like the
    // reserved scopes.
    guard parts.count == 1, hasGraph, first != "email" else { return nil }
    return Self.graph
  }

  private var hasGraph: Bool {
    switch kind {
    case .entra, .ciam: true
    case .adfs, .b2c, .issuer: false
    }
  }

  private static let graph = "https://graph.microsoft.com"

  /// Microsoft Graph's hosts in all clouds, and its id.
  private static let graphNames: Set<String> = [
    "graph.microsoft.com", "canary.graph.microsoft.com", "graph.microsoft.us", "dod-graph.microsoft.us",
    "microsoftgraph.chinacloudapi.cn", "00000003-0000-0000-c000-000000000000",
  ]
}
