// One public key as identity providers publish it (RFC 7517). RSA only: keys of other types are ignored. So are
// certificates (`x5c`, `x5t`): the document came over verified TLS from the issuer, and they could add no trust.

package import Bytes

/// A public RSA key that verifies signatures.
package struct JWK: Sendable, Hashable {
  /// `kid`: its name in token headers.
  package var identifier: String?
  /// `alg`: its only algorithm, as written; nil: any that fits its kind.
  package var algorithm: String?
  /// `use`: `sig`, `enc`, or absent.
  package var use: String?
  /// `key_ops`: its purposes, if they are listed (RFC 7517 §4.3).
  package var operations: [String]?
  /// `issuer`: the issuer of its tokens, perhaps with `{tenantid}`: Entra's tenants share keys.
  package var issuer: String?
  /// `n`: the modulus, big-endian.
  package var modulus: [UInt8]
  /// `e`: the exponent, big-endian.
  package var exponent: [UInt8]

  /// A key that verifies signatures of `algorithm`.
  package init(identifier: String?, algorithm: JWTAlgorithm, modulus: [UInt8], exponent: [UInt8]) {
    self.identifier = identifier
    self.algorithm = algorithm.rawValue
    self.use = "sig"
    self.modulus = modulus
    self.exponent = exponent
  }

  /// True if a token with this header may have been signed by the key.
  package func fits(_ header: JWTHeader) -> Bool {
    if let kid = header.kid, identifier != kid { return false }
    if let algorithm, algorithm != header.alg { return false }
    if let operations, !operations.contains("verify") { return false }
    return use == nil || use == "sig"
  }
}

extension JWK: JSONMember {
  /// Reads a key; nil for one that cannot verify here.
  init?(_ value: JSONValue) {
    guard let members = value.members.map({ JWTMembers($0, of: .signature) }) else { return nil }
    do throws(JWTRefusal) {
      guard try members.text("kty") == "RSA", let modulus = try members.bytes("n"),
        let exponent = try members.bytes("e")
      else { return nil }
      (self.modulus, self.exponent) = (modulus, exponent)
      identifier = try members.text("kid")
      algorithm = try members.text("alg")
      use = try members.text("use")
      operations = try members.list("key_ops")
      issuer = try members.text("issuer")
    } catch {
      return nil
    }
  }

  package var json: JSONValue {
    JSONValue([
      "kty": "RSA", "use": use, "alg": algorithm, "kid": identifier, "key_ops": operations, "issuer": issuer,
      "n": Base64URL.encode(modulus), "e": Base64URL.encode(exponent),
    ])
  }
}

/// An issuer's public keys.
package struct JWKSet: Sendable, Hashable {
  /// The usable keys in the document's order.
  package var keys: [JWK]

  package init(keys: [JWK]) { self.keys = keys }

  /// The document that publishes them.
  package var json: JSONValue { JSONValue(["keys": keys]) }

  /// Reads a document; nil if it is no JSON object with an array `keys`, or has a member twice.
  package init?(json: [UInt8]) {
    do throws(JSONTextError) {
      guard case .array(let keys)? = try JSONValue(text: json, repetition: .refused).members?["keys"] else {
        return nil
      }
      self.keys = keys.compactMap { JWK($0) }
    } catch {
      return nil
    }
  }

  /// The keys that may have signed a token with this header; several if it names none.
  package func candidates(for header: JWTHeader) -> [JWK] {
    keys.filter { $0.fits(header) }
  }
}

/// The age of the keys by which callers' tokens are judged.
package struct SigningKeyAge: Sendable, Equatable {
  /// Seconds after which keys are fetched again.
  package static let refresh: Int64 = 600
  /// Seconds after which keys that could not be fetched again are no longer used.
  package static let limit: Int64 = 3600
  /// Seconds between two attempts to fetch keys while there are some: any caller can name an unknown key.
  package static let pause: Int64 = 60
  /// Seconds between two attempts while there are none: any caller can send an unsigned token.
  package static let outagePause: Int64 = 5

  private var fetchedAt: UnixTime?
  private var triedAt: UnixTime?

  /// The step before a token is judged.
  package enum Need: Sendable, Equatable {
    case none
    /// Fetch the keys; if that fails, the old ones serve.
    case refresh
    /// Fetch the keys; without them, no token can be judged.
    case keys
    /// There are no keys, and the last attempt to fetch them was a moment ago.
    case pause
  }

  package init() {}

  /// The step to take now. A clock that was set back makes keys old, not young.
  package func need(at now: UnixTime) -> Need {
    guard let fetchedAt, (0..<Self.limit).contains(now - fetchedAt) else {
      return mayTry(at: now, after: Self.outagePause) ? .keys : .pause
    }
    return now - fetchedAt < Self.refresh || !mayTry(at: now) ? .none : .refresh
  }

  /// True if the last attempt is long enough ago for another one.
  package func mayTry(at now: UnixTime) -> Bool { mayTry(at: now, after: Self.pause) }

  private func mayTry(at now: UnixTime, after pause: Int64) -> Bool {
    guard let triedAt else { return true }
    return !(0..<pause).contains(now - triedAt)
  }

  /// The end of the time for which a proof by these keys is accepted without another check.
  package var believedUntil: UnixTime {
    guard let fetchedAt else { return UnixTime(0) }
    let nextTry = max(fetchedAt + Self.refresh, (triedAt ?? fetchedAt) + Self.pause)
    return min(nextTry, fetchedAt + Self.limit)
  }

  package mutating func fetched(at now: UnixTime) {
    fetchedAt = now
    triedAt = now
  }

  package mutating func failed(at now: UnixTime) { triedAt = now }
}
