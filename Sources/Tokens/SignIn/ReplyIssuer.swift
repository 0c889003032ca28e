// Owns what an answer to an authorization request has to say of its issuer (RFC 9207 §2.4): another issuer's answer is
// another provider's, whose code must not reach this one.

/// The issuer that an answer may or has to name.
package struct ReplyIssuer: Sendable, Hashable {
  /// What is wrong with an answer's `iss`.
  package enum Problem: Error, Sendable, Hashable {
    /// It names another issuer.
    case other
    /// It names none, although the provider's metadata promise it.
    case missing
  }

  private let issuer: String
  private let isPromised: Bool
  private let isExact: Bool

  /// The rule for a provider's answers.
  package init(_ metadata: ProviderMetadata, authority: Authority) {
    self.init(
      metadata.issuer, isPromised: metadata.namesIssuerInReplies, isExact: authority.kind == .issuer)
  }

  /// The rule of these parts. `isExact`: whether the metadata's issuer is the one that answers name; Microsoft's kinds
  /// have aliases and issuers for each tenant.
  package init(_ issuer: String, isPromised: Bool, isExact: Bool) {
    self.issuer = issuer
    self.isPromised = isPromised
    self.isExact = isExact
  }

  /// Judges an answer's `iss`; nil where there is none.
  func check(_ found: String?) throws(Problem) {
    guard let found else {
      if isPromised { throw .missing }
      return
    }
    if isExact || isPromised, !matches(found) { throw .other }
  }

  /// Compared as text (RFC 9207 §2.4), but for the tenant that Entra's metadata leave open.
  private func matches(_ found: String) -> Bool {
    if found == issuer { return true }
    guard !isExact, let open = issuer.firstRange(of: "{tenantid}") else { return false }
    let (start, end) = (issuer[..<open.lowerBound], issuer[open.upperBound...])
    guard found.count > start.count + end.count, found.hasPrefix(start), found.hasSuffix(end) else { return false }
    let tenant = String(found.dropFirst(start.count).dropLast(end.count))
    if case .specific = EntraTenant(tenant) { return true }
    return false
  }
}
