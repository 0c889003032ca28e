package import Bytes
internal import HTTP

/// A device code, and the values by which a person confirms it (RFC 8628 §3.2).
public struct DeviceAuthorizationReply: Sendable {
  /// The code for token requests; it is not shown.
  package let deviceCode: Secret
  /// The code that the person types.
  public let userCode: String
  /// The address at which the person types it.
  public let verificationURI: String
  /// The same address with the code in it, if the provider has one.
  public let completeURI: String?
  /// Seconds that the codes are valid, at least 1.
  public let expiresIn: Int64
  /// Seconds between two polls, at least 1.
  package let interval: Int64

  /// Seconds if the provider names none (msal-python's).
  package static let unstatedLifetime: Int64 = 1800
  /// Seconds between polls if the provider names none (RFC 8628 §3.2).
  package static let unstatedInterval: Int64 = 5

  /// Reads an answer. Numbers may be strings; an `error` member makes it an error whatever the status.
  /// - Parameter sent: the secrets of the request. Members that repeat one count as absent.
  package init(_ answer: ProviderAnswer, sent: SentSecrets, now: UnixTime) throws(TokenFailure) {
    let reply = try ReplyMembers(answer, sent: sent, now: now)
    // Google and older ADFS call it `verification_url`.
    let address = reply["verification_uri"]?.text ?? reply["verification_url"]?.text
    guard let code = reply["device_code"]?.text, !code.isEmpty,
      let userCode = reply["user_code"]?.text, Self.isShowable(userCode),
      let address, Self.isAddress(address)
    else { throw reply.failure(.unintelligible) }
    deviceCode = Secret(code)
    self.userCode = userCode
    verificationURI = address
    completeURI = reply["verification_uri_complete"]?.text.flatMap { Self.isAddress($0) ? $0 : nil }
    let life = reply["expires_in"]?.seconds ?? Self.unstatedLifetime
    guard life > 0 else { throw reply.failure(.lifetime) }
    expiresIn = life
    interval = max(reply["interval"]?.seconds ?? Self.unstatedInterval, 1)
  }

  // A text for a terminal may hold no control sequence.
  private static func isShowable(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
  }

  private static func isAddress(_ text: String) -> Bool {
    text.utf8.count <= 2048 && HTTPURL(ifValid: text) != nil
  }
}
