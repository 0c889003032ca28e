// Whose a refresh token is that its writer filed under a host alone (msal does), where several issuers share the host.

import Bytes

/// The rule by which an unmarked refresh token is an issuer's.
///
/// Nothing in such an entry names its issuer. An ID token does, but it has a place of its own, which a sign-in at
/// another issuer of the host takes over. So times decide. A refresh token is an issuer's only where it is not older
/// than an ID token of that issuer. Where ID tokens of several issuers are there, or several refresh tokens, it also
/// has to be the one that was written with the ID token. One whose owner is in doubt is no issuer's: it would be shown
/// to a provider that it is not for.
struct PlainTokenRule {
  /// An unmarked ID token.
  struct Proof: Equatable {
    /// Its issuer, as `Authority.isolation` spells it.
    var issuer: String
    /// When it was issued, by the provider's clock.
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

  /// Whose a refresh token is; nil where that is in doubt.
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
