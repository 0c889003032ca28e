package import Bytes

/// A credential that a route adds in place of a token: an API key, or Basic credentials.
package struct FixedCredential: Sendable, Hashable {
  package let name: RouteFieldName
  package let value: Secret
  /// Bytes of the scheme and the space behind it, which are no secret.
  package let schemeCount: Int

  /// Bytes of the shortest value. Response fields that repeat the value are removed: a short one is in many.
  package static let shortest = 8
  /// Bytes of the longest value.
  package static let longest = 4096

  /// The value of a field, such as `X-API-Key`; of `Authorization`, also with a scheme in front.
  package init(_ name: RouteFieldName, _ value: Secret) {
    self.name = name
    self.value = value
    let space = name.isAuthorization ? value.bytes.indices.first { value.bytes[$0] == ASCII.space } : nil
    schemeCount = space.map { $0 + 1 } ?? 0
  }

  /// Basic credentials (RFC 7617); nil if the user name has a colon, or either part a control character.
  package init?(user: String, password: Secret) {
    let text = Array(user.utf8) + [UInt8(ascii: ":")] + password.bytes.indices.map { password.bytes[$0] }
    guard !user.utf8.contains(UInt8(ascii: ":")), text.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }),
      let name = RouteFieldName("Authorization")
    else { return nil }
    self.init(name, Secret("Basic \(Base64.encode(text))"))
  }

  /// Hashes the name: a secret has no hash.
  package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
