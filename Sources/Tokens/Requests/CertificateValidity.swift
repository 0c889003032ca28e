// What there is to say of a certificate's dates, and when. Dates alone decide nothing: a provider may know better.

package import Bytes

/// From when to when a certificate is valid.
package struct CertificateValidity: Sendable, Hashable {
  package var notBefore: UnixTime
  package var notAfter: UnixTime

  package init(notBefore: UnixTime, notAfter: UnixTime) {
    self.notBefore = notBefore
    self.notAfter = notAfter
  }

  /// How a certificate stands; later cases are more urgent.
  package enum State: Int, Sendable, Hashable, Comparable, CaseIterable {
    case valid
    /// It ends within 30 days.
    case endsSoon
    /// It ends within 7 days.
    case endsVerySoon
    case notYetValid
    case expired

    package static func < (left: State, right: State) -> Bool { left.rawValue < right.rawValue }
  }

  /// How it stands at an instant.
  package func state(at now: UnixTime) -> State {
    if now < notBefore { return .notYetValid }
    let left = notAfter - now
    if left < 0 { return .expired }
    return left < 7 * Self.day ? .endsVerySoon : left < 30 * Self.day ? .endsSoon : .valid
  }

  private static let day: Int64 = 86_400
}
