package import Bytes

/// A browser's answer without a code.
public enum AuthorizationReplyError: Error, Sendable, Hashable {
  /// Not a form, or a member occurs twice.
  case malformed
  /// The state is not this sign-in's: the answer belongs to another one.
  case state
  /// The answer names another issuer (RFC 9207): two providers are being mixed up.
  case issuer
  /// The answer names no issuer, although this one's always do (RFC 9207 §2.4).
  case issuerMissing
  /// The provider's error. Only these members are passed on: the error, its description and the code at its beginning.
  case refused(TokenErrorReply)
  /// Neither a code nor an error.
  case withoutCode
}

/// A code that a browser brought (RFC 6749 §4.1.2). The state is checked before anything else.
package struct AuthorizationReply: Sendable {
  /// Valid for one token request.
  package let code: Secret
  /// The account in `client_info` of Entra's answers. It is not proven.
  package let accountHint: RoutingHint?

  /// Reads a redirect's query or a posted form. `state` is the one that was sent.
  package init(form text: [UInt8], state: String, issuer: ReplyIssuer) throws(AuthorizationReplyError) {
    let form = try mapping({ (_: ReplyForm.Problem) in AuthorizationReplyError.malformed }, ReplyForm(text))
    guard let found = form["state"], Secret(found) == Secret(state) else { throw .state }
    try issuer.check(form["iss"])
    let told = ["error", "error_description"].reduce(into: [:]) { $0[$1] = form[$1].map(JSONValue.string) }
    if let refusal = TokenErrorReply(members: told, sent: .none) { throw .refused(refusal) }
    guard let code = form["code"] else { throw .withoutCode }
    self.code = Secret(code)
    let identity = AccountIdentity(clientInfo: form["client_info"], idToken: nil)
    accountHint = RoutingHint(homeAccountID: identity.homeAccountID)
  }
}

package struct ReplyForm: Sendable {
  /// A text that is no form.
  package enum Problem: Error, Sendable {
    /// A percent sign without two hexadecimal digits, or bytes that are not UTF-8.
    case encoding
    /// A member that occurs twice (RFC 6749 §3.1 forbids it).
    case repeated
  }

  private var members: [String: String] = [:]

  /// Reads a form; the text has no `?` in front.
  package init(_ text: [UInt8]) throws(Problem) {
    for pair in text.split(separator: UInt8(ascii: "&")) {
      let halves = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      let name = try Self.decoded(halves[0])
      let value = halves.count == 2 ? try Self.decoded(halves[1]) : ""
      guard members.updateValue(value, forKey: name) == nil else { throw .repeated }
    }
  }

  /// A member's value. An empty one counts as absent.
  package subscript(_ name: String) -> String? {
    members[name].flatMap { $0.isEmpty ? nil : $0 }
  }

  private static func decoded(_ text: ArraySlice<UInt8>) throws(Problem) -> String {
    guard let bytes = PercentEncoding.decoded(text, isForm: true), let text = String(validating: bytes, as: UTF8.self)
    else { throw .encoding }
    return text
  }
}

/// The issuer that an answer may or has to name.
package struct ReplyIssuer: Sendable, Hashable {
  private let issuer: String
  private let isPromised: Bool
  private let isExact: Bool

  /// The rule for a provider's answers.
  package init(_ metadata: ProviderMetadata, authority: Authority) {
    self.init(metadata.issuer, isPromised: metadata.namesIssuerInReplies, isExact: authority.kind == .issuer)
  }

  /// `isExact`: answers name the metadata's issuer. Microsoft's kinds have one for each tenant.
  package init(_ issuer: String, isPromised: Bool, isExact: Bool) {
    self.issuer = issuer
    self.isPromised = isPromised
    self.isExact = isExact
  }

  /// Judges an answer's `iss`; nil if there is none.
  func check(_ found: String?) throws(AuthorizationReplyError) {
    guard let found else {
      if isPromised { throw .issuerMissing }
      return
    }
    if isExact || isPromised, !matches(found) { throw .issuer }
  }

  /// Compares text (RFC 9207 §2.4), with the tenant that Entra's metadata leave open.
  private func matches(_ found: String) -> Bool {
    if found == issuer { return true }
    guard !isExact, let open = issuer.firstRange(of: "{tenantid}") else { return false }
    let (start, end) = (issuer[..<open.lowerBound], issuer[open.upperBound...])
    guard found.count > start.count + end.count, found.hasPrefix(start), found.hasSuffix(end) else { return false }
    let tenant = String(found.dropFirst(start.count).dropLast(end.count))
    if case .specific = EntraTenant(tenant) { return true }
    return false
  }
}

/// The path to which the sign-ins of an application return.
package enum CallbackPath: Sendable, Hashable {
  /// The path that all applications share.
  case shared
  /// A path of the application's own, by its name. An identity provider that sends a browser on to another one, in the
  /// name of another application, cannot have the answer brought here (RFC 9700 §4.4.2, "mix-up").
  case own(application: String)

  /// The shared path on listeners with sign-in pages; the applications' own paths are below it.
  package static let root = "/.bearer/callback"

  package var path: String {
    switch self {
    case .shared: Self.root
    case .own(let name): "\(Self.root)/\(name)"
    }
  }
}
