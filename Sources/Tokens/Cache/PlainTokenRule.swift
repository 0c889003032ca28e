import Bytes

/// The rule by which an unmarked refresh token belongs to an issuer.
///
/// Its entry does not name its issuer. An ID token does, but its entry is replaced by a sign-in at another issuer of
/// the host. So times decide. A refresh token belongs to an issuer only if it is not older than an ID token of that
/// issuer. If there are ID tokens of several issuers, or several refresh tokens, it must also be the one that was
/// written with the ID token. A token whose issuer is in doubt belongs to none: it would be shown to a provider that it
/// is not for.
struct PlainTokenRule {
  /// An unmarked ID token.
  struct Proof: Equatable {
    /// Its issuer, in the spelling of `Authority.isolation`.
    var issuer: String
    /// The time of issue, by the provider's clock.
    var issuedAt: UnixTime
  }

  /// Seconds by which the provider's clock may be ahead of the writer's.
  static let leeway: Int64 = 5

  /// The unmarked ID tokens of one person and application.
  var proofs: [Proof]
  /// The unmarked refresh tokens of the same.
  var tokens: [HeldRefreshToken]

  func tokens(of issuer: String) -> [HeldRefreshToken] {
    tokens.filter { self.issuer(of: $0) == issuer }
  }

  /// The issuer of a refresh token; nil if that is in doubt.
  private func issuer(of token: HeldRefreshToken) -> String? {
    let proofs = proofs.filter { token.modifiedAt > UnixTime(0) && token.modifiedAt - $0.issuedAt >= -Self.leeway }
    guard let nearest = proofs.min(by: { token.distance(to: $0) < token.distance(to: $1) }) else { return nil }
    let isAlone = self.proofs.allSatisfy { $0.issuer == nearest.issuer }
    let rivals = tokens.filter {
      $0.secret != token.secret && $0.modifiedAt - nearest.issuedAt >= -Self.leeway
    }
    if isAlone, rivals.isEmpty { return nearest.issuer }
    let distance = token.distance(to: nearest)
    let isContested = proofs.contains { $0.issuer != nearest.issuer && token.distance(to: $0) == distance }
    guard distance <= Self.leeway, !isContested, rivals.allSatisfy({ $0.distance(to: nearest) > distance }) else {
      return nil
    }
    return nearest.issuer
  }
}

extension HeldRefreshToken {
  /// Seconds between the writing of a token and the issue of an ID token.
  fileprivate func distance(to proof: PlainTokenRule.Proof) -> Int64 { abs(modifiedAt - proof.issuedAt) }
}
