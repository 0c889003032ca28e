// Owns the `claims` parameter: challenges, client capabilities and their merger. Finding a challenge in an answer is the
// HTTP module's and the proxy's.

/// Why a text is not a claims request.
public enum ClaimsError: Error, Sendable, Hashable {
  /// Not a JSON object.
  case notAnObject
  /// Larger than `Claims.limit`.
  case tooLarge
}

/// A claims request (OpenID Connect Core 1.0 §5.5) in canonical form, so that equal requests are equal values.
public struct Claims: Sendable, Hashable {
  /// The JSON text: members in order of their names, no spaces.
  public let text: String

  /// Bytes of the longest request accepted.
  public static let limit = 16 * 1024

  /// Reads a claims request. What is not a JSON object is the caller's error, found before anything is sent.
  public init(json: String) throws(ClaimsError) {
    guard json.utf8.count <= Self.limit else { throw .tooLarge }
    guard let value = JSONValue(json: Array(json.utf8)), value.members != nil else { throw .notAnObject }
    text = value.canonicalText()
  }

  /// What is sent for a challenge, if there is one, by an application with these capabilities; nil where that is nothing.
  ///
  /// Capabilities become `{"access_token":{"xms_cc":{"values":[…]}}}` and replace a challenge's own `xms_cc`; all else of
  /// the challenge stays (msal-python's merger).
  public init?(challenge: Claims?, capabilities: [String]) {
    guard !capabilities.isEmpty else {
      guard let challenge else { return nil }
      self = challenge
      return
    }
    var members = challenge.flatMap { JSONValue(json: Array($0.text.utf8))?.members } ?? [:]
    var accessToken = members["access_token"]?.members ?? [:]
    accessToken["xms_cc"] = .object(["values": .array(capabilities.map(JSONValue.string))])
    members["access_token"] = .object(accessToken)
    text = JSONValue.object(members).canonicalText()
  }
}
