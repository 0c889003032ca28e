// Asks a provider what it would say to a sign-in, without a person: `prompt=none` and no cookie. And what its replies
// tell of the clocks.

import Bytes
import HTTP
import HTTPClient
import Platform
import Tokens

/// A request to an authorization endpoint that no one answers.
struct SignInTrial {
  let endpoint: HTTPURL
  let clientID: String
  let redirectURI: String
  /// With those that a sign-in adds.
  let scopes: ScopeSet

  enum Verdict: Equatable {
    /// The provider would send the browser back to the redirect URI, and wants a person.
    case accepted
    /// The provider sends this error back: the scopes are not the application's to ask for.
    case scopes(String)
    /// The provider does not send the browser back, so it does not know the application or the redirect URI.
    case application(String)
    /// Nothing follows from the answer.
    case unknown
  }

  func verdict(_ fetch: Fetch) async throws(FetchError) -> Verdict {
    let response = try await fetch(FetchRequest(.get, url, fields: [("accept", "text/html")]))
    return Self.verdict(response, redirectURI: redirectURI)
  }

  private var url: HTTPURL {
    var query = FormBody()
    for (name, value) in [
      ("client_id", clientID), ("response_type", "code"), ("redirect_uri", redirectURI),
      ("scope", scopes.description), ("prompt", "none"), ("state", "check"), ("nonce", "check"),
      // Of a verifier that is never used: no code is redeemed (RFC 7636 appendix B).
      ("code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"), ("code_challenge_method", "S256"),
    ] {
      query.append(name, value)
    }
    var url = endpoint
    url.target += (url.target.contains("?") ? "&" : "?") + String(decoding: query.bytes, as: UTF8.self)
    return url
  }

  /// The meaning of an answer: an error goes to the redirect URI, unless that is not valid (OpenID Connect Core 1.0
  /// §3.1.2.6).
  static func verdict(_ response: FetchResponse, redirectURI: String) -> Verdict {
    switch response.status {
    case 301...303, 307:
      guard let location = response.value(of: "location"), location.hasPrefix(redirectURI) else { return .unknown }
      let query = location.split(separator: "?", maxSplits: 1).last ?? ""
      let error = query.split(separator: "&").first { $0.hasPrefix("error=") }.map { String($0.dropFirst(6)) }
      switch error {
      case "invalid_scope", "unauthorized_client", "invalid_target", "invalid_resource": return .scopes(error ?? "")
      default: return .accepted
      }
    // Some providers show the person what they should send back: then the redirect URI was not the trouble.
    case 400, 401, 403:
      let text = String(decoding: response.body, as: UTF8.self)
      let isAboutPerson = ["login_required", "interaction_required", "consent_required"].contains { text.contains($0) }
      if text.contains("invalid_scope") { return .scopes("invalid_scope") }
      return isAboutPerson ? .accepted : .application(entraCode(response.body) ?? "")
    // Entra shows its errors with 200. AADSTS50058 is the one that says that no one is signed in.
    case 200: return entraCode(response.body).map { $0 == "AADSTS50058" ? .accepted : .application($0) } ?? .unknown
    default: return .unknown
    }
  }

  /// `AADSTS` and digits.
  private static func entraCode(_ body: [UInt8]) -> String? {
    let text = String(decoding: body, as: UTF8.self)
    guard let start = text.firstRange(of: "AADSTS") else { return nil }
    let digits = text[start.upperBound...].prefix { $0.isASCII && $0.isNumber }
    return digits.isEmpty ? nil : "AADSTS\(digits)"
  }
}

/// The difference of clocks by a provider's `Date` fields.
final class ProviderClock: Sendable {
  /// Seconds of difference that are no trouble.
  static let tolerance: Int64 = 60

  private let known = Locked<Int64?>(nil)

  /// Seconds that this machine is ahead of the provider; nil if no reply had a date.
  var skew: Int64? { known.withLock { $0 } }

  /// The same way to the provider, with an eye on `Date`. A reply from a cache says its age (RFC 9111 §5.1).
  func watching(_ fetch: @escaping Fetch, now: @escaping @Sendable () -> UnixTime) -> Fetch {
    { (request) async throws(FetchError) in
      let response = try await fetch(request)
      let now = now()
      if let date = response.value(of: "date").flatMap({ UnixTime(httpDate: $0[...], now: now) }) {
        let age = response.value(of: "age").flatMap { Int64($0) } ?? 0
        self.known.withLock { $0 = now - date - age }
      }
      return response
    }
  }
}
