// Callers' own tokens in a loop: those that it believes, and those for which they were exchanged. Looking one up costs
// a digest and a look into a bounded map.

internal import Bytes
internal import Identity
internal import Platform
internal import Telemetry

/// A caller's token that was accepted. Confined to its loop.
final class BelievedToken {
  let digest: Digest256
  let claims: BelievedClaims
  /// Its subject in the form of access records.
  let recordedSubject: [UInt8]
  /// The tokens for which it was exchanged, by bearer slot: one for each route that this caller calls.
  private var bearers: [(slot: Int, value: BearerValue)] = []

  init(_ digest: Digest256, _ claims: BelievedClaims, _ identities: RecordedIdentities) {
    self.digest = digest
    self.claims = claims
    recordedSubject = identities.recorded(claims.subject)
  }

  func bearer(_ slot: Int) -> BearerValue? {
    for index in bearers.indices where bearers[index].slot == slot { return bearers[index].value }
    return nil
  }

  /// Keeps a token for the caller's next requests.
  func keep(_ value: BearerValue, for slot: Int) {
    if let index = bearers.firstIndex(where: { $0.slot == slot }) {
      bearers[index].value = value
    } else {
      bearers.append((slot, value))
    }
  }

  /// Forgets a token that was refused: the broker knows a newer one, or how to get it.
  func forget(_ value: BearerValue) { bearers.removeAll { $0.value.id == value.id } }
}

/// The callers' tokens that a loop believes, at most so many; the one that was not seen for longest goes.
struct CallerTokens {
  /// The identity of a token with its rule. Listeners may trust different issuers, and a token may be bound to a
  /// certificate.
  struct Name: Hashable {
    var check: ObjectIdentifier
    var certificate: [UInt8]
    var digest: Digest256
  }

  private var believed: RecencyMap<Name, BelievedToken>
  private let digester = TokenDigester()

  init(limit: Int) { believed = RecencyMap(limit: limit) }

  func digest(of token: Span<UInt8>) -> Digest256? {
    do throws(CryptoError) { return try digester.digest(of: token) } catch { return nil }
  }

  /// The token of this name, as long as it is valid.
  mutating func use(_ name: Name, now: UnixTime) -> BelievedToken? {
    guard let token = believed.use(name), now < token.claims.until else { return nil }
    return token
  }

  mutating func keep(_ token: BelievedToken, for name: Name) { believed.keep(token, for: name) }
}

extension RecordedIdentities {
  /// A name in the form of access records; empty if they have none.
  func recorded(_ name: String?) -> [UInt8] {
    guard let name, self != .none else { return [] }
    if self == .plain { return Array(name.utf8) }
    do throws(CryptoError) {
      return ASCII.hexadecimalDigits(of: try SHA256.digest(of: Array(name.utf8)))
    } catch {
      // No name is better than one that was to be hidden.
      return []
    }
  }
}
