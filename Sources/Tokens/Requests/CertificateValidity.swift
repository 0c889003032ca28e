package import Bytes

/// The time in which a certificate is valid. Dates alone decide nothing: the provider judges the certificate.
package struct CertificateValidity: Sendable, Hashable {
  package var notBefore: UnixTime
  package var notAfter: UnixTime

  package init(notBefore: UnixTime, notAfter: UnixTime) {
    self.notBefore = notBefore
    self.notAfter = notAfter
  }

  /// The state of a certificate; later cases are more urgent.
  package enum State: Sendable, Hashable, Comparable, CaseIterable {
    case valid
    /// It ends within 30 days.
    case endsSoon
    /// It ends within 7 days.
    case endsVerySoon
    case notYetValid
    case expired
  }

  package func state(at now: UnixTime) -> State {
    if now < notBefore { return .notYetValid }
    let left = notAfter - now
    if left < 0 { return .expired }
    return left < 7 * Self.day ? .endsVerySoon : left < 30 * Self.day ? .endsSoon : .valid
  }

  private static let day: Int64 = 86_400
}
