import Bytes

/// A text that is no claims request.
public enum ClaimsError: Error, Sendable, Hashable {
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

  /// Reads a claims request. Anything but a JSON object is the caller's error, found before a request is sent.
  public init(json: String) throws(ClaimsError) {
    guard json.utf8.count <= Self.limit else { throw .tooLarge }
    guard let value = JSONValue(json: Array(json.utf8)), value.members != nil else { throw .notAnObject }
    text = value.canonicalText()
    // A character that is escaped in this form alone makes it longer than the original.
    guard text.utf8.count <= Self.limit else { throw .tooLarge }
  }

  /// The same; nil for anything but a JSON object.
  package init?(ifValid json: String) {
    do throws(ClaimsError) { try self.init(json: json) } catch { return nil }
  }

  /// The claims to send for an optional challenge by an application with these capabilities; nil if there are none.
  ///
  /// Capabilities become `{"access_token":{"xms_cc":{"values":[…]}}}` and replace a challenge's own `xms_cc`; all else
  /// of the challenge stays (msal-python's merger).
  package init?(challenge: Claims?, capabilities: [String]) {
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

extension Claims {
  /// Both requests in one: `other` wins conflicts, and if the sum would be larger than `limit`.
  package func merged(with other: Claims) -> Claims {
    let text = JSONValue(json: Array(text.utf8)), more = JSONValue(json: Array(other.text.utf8))
    guard let text, let more else { return other }
    return Claims(ifValid: Self.merged(text, more).canonicalText()) ?? other
  }

  private static func merged(_ one: JSONValue, _ other: JSONValue) -> JSONValue {
    guard case .object(let members) = one, case .object(let others) = other else { return other }
    return .object(members.merging(others) { merged($0, $1) })
  }
}
