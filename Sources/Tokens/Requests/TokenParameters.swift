internal import HTTP

/// A route's further parameters of token requests, part of every key: they decide what a token is for.
package struct TokenParameters: Sendable, Hashable {
  package struct Parameter: Sendable, Hashable {
    package let name: String
    package let value: String
  }

  /// In the order of their names, each name once but for `audience` and `resource`, which may repeat (RFC 8693 §2.1).
  package let all: [Parameter]

  package static let none = TokenParameters(inOrder: [])

  private init(inOrder all: [Parameter]) { self.all = all }

  /// The parameter by which a blueprint's token proves an agent identity (Entra's `fmi_path`).
  package init(agent: String) { all = [Parameter(name: "fmi_path", value: agent)] }

  /// Audiences by the provider's own names (RFC 8693 §2.1), as absolute URIs (RFC 8707 §2), and other parameters.
  package init(
    audiences: [String] = [], resources: [String] = [], additional: [String: String] = [:]
  ) throws(TokenParameterError) {
    for (name, value) in additional.sorted(by: { $0.key < $1.key }) {
      guard Self.isName(name) else { throw .name(name) }
      guard !Self.reserved.contains(name.lowercased()) else { throw .reserved(name) }
      guard Self.isText(value) else { throw .value(name) }
    }
    guard audiences.allSatisfy(Self.isText) else { throw .value("audience") }
    guard resources.allSatisfy(Self.isResource) else { throw .resource }
    let members =
      additional.map { Parameter(name: $0.key, value: $0.value) }
      + audiences.map { Parameter(name: "audience", value: $0) }
      + resources.map { Parameter(name: "resource", value: $0) }
    all = Self.sorted(members)
  }

  /// These, for that audience alone.
  package func forAudience(_ audience: String) -> TokenParameters {
    let others = all.filter { $0.name != "audience" }
    return TokenParameters(inOrder: Self.sorted(others + [Parameter(name: "audience", value: audience)]))
  }

  /// In the order of the names. Values of one name keep their order.
  private static func sorted(_ members: [Parameter]) -> [Parameter] {
    members.enumerated().sorted { ($0.element.name, $0.offset) < ($1.element.name, $1.offset) }.map(\.element)
  }

  package var isEmpty: Bool { all.isEmpty }

  package subscript(_ name: String) -> String? { all.first { $0.name == name }?.value }

  /// Names of the grant, the application, the person, the kind of token or the way of the answer, which other settings
  /// or none decide; and `audience`, `resource`, `scope` and `claims`, which have settings of their own.
  package static let reserved: Set<String> = [
    "grant_type", "code", "code_verifier", "code_challenge", "code_challenge_method", "redirect_uri", "refresh_token",
    "device_code", "assertion", "subject_token", "subject_token_type", "actor_token", "actor_token_type",
    "requested_token_type", "requested_token_use", "auth_req_id",
    "client_id", "client_secret", "client_assertion", "client_assertion_type", "client_info",
    "username", "password", "user_id", "user_federated_identity_credential", "fmi_path", "login_hint", "id_token_hint",
    "domain_hint", "prompt", "sub", "requested_subject", "requested_actor",
    "scope", "claims", "audience", "resource", "token_type", "req_cnf", "cnf", "dpop_jkt",
    "response_type", "response_mode", "state", "nonce", "max_age", "acr_values", "request", "request_uri",
    "x_client_cert", "mtls_pop",
  ]

  /// RFC 6749 appendix A: letters, digits, `-`, `.`, `_`. Shorter than any provider's limit.
  private static func isName(_ name: String) -> Bool { (1...64).contains(name.utf8.count) && name.isPlainName }

  private static func isText(_ text: String) -> Bool {
    (1...2048).contains(text.utf8.count) && !text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }
  }

  /// The normal form of a resource, in which APIs and providers compare it: an http or https URL has a host in lower
  /// case, no port that its scheme implies, and no slash at the end of its path. Other URIs stay as they are.
  package static func normalResource(_ text: String) -> String { HTTPURL(ifValid: text)?.normal ?? text }

  /// An absolute URI without a fragment: a scheme, a colon, and a rest.
  private static func isResource(_ text: String) -> Bool {
    guard let colon = text.firstIndex(of: ":"), text.index(after: colon) != text.endIndex else { return false }
    let scheme = text[..<colon]
    return isText(text) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) } && !text.contains("#")
      && scheme.first?.isLetter == true && scheme.allSatisfy { $0.isLetter || $0.isNumber || "+-.".contains($0) }
  }
}

/// Parameters that cannot be sent.
public enum TokenParameterError: Error, Sendable, Hashable {
  /// A name with another character than letters, digits, `-`, `.` and `_`.
  case name(String)
  /// A name that a route may not set.
  case reserved(String)
  /// The value of this name is empty, too long, or has a control character.
  case value(String)
  /// The resource is no absolute URI without a fragment.
  case resource
}

extension TokenParameters: CustomStringConvertible {
  /// The parameters as text; they are no secrets.
  package var description: String { all.map { "\($0.name)=\($0.value)" }.joined(separator: " ") }
}
