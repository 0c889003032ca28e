// A provider whose tokens prove what they were asked to, and an API each of whose parts demands something else of them.

import FoundationEssentials
import Platform
import Synchronization
import TestSupport

/// A provider whose tokens prove what they were asked to, and an API each of whose parts (the last segment of a path)
/// demands something else:
///
/// | part | takes | refuses with |
/// |---|---|---|
/// | `free` | every token | |
/// | `alpha`, `beta`, `gamma` | tokens that prove it | claims |
/// | `valid` | tokens issued after the last `revoke()` | `invalid_token` |
/// | `wider` | tokens with the scope `gamma` | `insufficient_scope` |
/// | `anew` | none | RFC 9470 |
/// | a number | none | a hostile challenge |
final class DemandingAPI: Sendable {
  private final class Record: Sendable {
    /// The claims of each token request, in order.
    let asked = Locked<[String]>([])
    /// Requests to the API.
    let requests = Atomic(0)
    /// The last token that is revoked.
    let revoked = Atomic(0)
    /// Requests to neither.
    let astray = Atomic(0)
    /// The head of the last request to the API.
    let head = Locked("")
    /// The paths with two dots in them.
    let climbed = Locked<[String]>([])
  }

  private let record: Record
  /// Each on a loop of its own: no token request waits behind hundreds of requests to the API.
  private let loops: (provider: EventLoop, api: EventLoop)
  private let servers: (provider: LoopServer, api: LoopServer)

  var issuer: String { "http://127.0.0.1:\(servers.provider.port)" }
  /// The prefix of the API's paths, without a slash at its end.
  var upstream: String { "http://127.0.0.1:\(servers.api.port)/api" }
  var asked: [String] { record.asked.withLock { $0 } }
  var requests: Int { record.requests.load(ordering: .relaxed) }
  /// The head of the last request to the API.
  var head: String { record.head.withLock { $0 } }
  /// The paths that came here with two dots in them.
  var climbed: [String] { record.climbed.withLock { $0 } }
  /// The number of requests for an address that only a challenge names.
  var astray: Int { record.astray.load(ordering: .relaxed) }

  /// Ends the validity of every token that was issued so far.
  func revoke() { record.revoked.store(asked.count, ordering: .relaxed) }

  /// - Parameter isContent: whether a token that proves what a path demands is taken.
  /// - Parameter hasConsent: whether the application may have tokens for the API.
  init(isContent: Bool = true, hasConsent: Bool = true) throws {
    let record = Record()
    self.record = record
    loops = (try EventLoop(), try EventLoop())
    let serve: @Sendable (ByteStream, Int) async -> Void = { stream, _ in
      await stream.serve { head, path, content in
        let decoded = path.replacing("%2e", with: ".").replacing("%2E", with: ".")
        if decoded.contains("..") { record.climbed.withLock { $0.append(path) } }
        let issuer = "http://\(head.between("ost: ", "\r\n") ?? "")"
        if path == "/token", !hasConsent {
          return Reply(
            #"{"error": "invalid_grant", "suberror": "consent_required", "error_description": "AADSTS65001: no"}"#,
            status: "400 Bad Request")
        } else if path == "/token" {
          return Reply(Self.token(content, record))
        } else if path.hasPrefix("/.well-known") {
          return Reply(#"{"issuer": "\#(issuer)", "token_endpoint": "\#(issuer)/token"}"#)
        } else if path.hasPrefix("/api/") {
          record.requests.add(1, ordering: .relaxed)
          record.head.withLock { $0 = head }
          let token = head.between("uthorization: Bearer ", "\r\n") ?? ""
          let part = path.split(separator: "/").last.map(String.init) ?? ""
          let number = token.split(separator: ".").dropFirst().first.flatMap { Int($0) } ?? 0
          let isValid = number > record.revoked.load(ordering: .relaxed)
          if let refusal = Self.refusal(part, token, isValid: isValid, isContent: isContent) {
            return Reply(
              "refused", status: refusal.status,
              Int(part) == nil
                ? "WWW-Authenticate: Bearer "
                  + "\(refusal.parameters)authorization_uri=\"\(issuer)/astray/oauth2/authorize\", "
                  + "resource_metadata=\"\(issuer)/astray/metadata\"\r\n"
                : refusal.parameters)
          } else {
            let proof = token.split(separator: ".").first.map(String.init) ?? ""
            return Reply("\(proof)\(content)")
          }
        } else {
          record.astray.add(1, ordering: .relaxed)
          return Reply("{}")
        }
      }
    }
    servers = (try LoopServer(on: loops.provider, serve), try LoopServer(on: loops.api, serve))
  }

  /// A token that says what it proves, and its number.
  private static func token(_ form: String, _ record: Record) -> String {
    // One word is enough to know a demand by.
    let words = ["alpha", "beta", "gamma"].filter { form.contains($0) }.joined(separator: "+")
    let number = record.asked.withLock { asked in
      asked.append(words)
      return asked.count
    }
    return #"""
      {"access_token": "\#(words.isEmpty ? "plain" : words).\#(number).", "token_type": "Bearer", "expires_in": 36000}
      """#
  }

  private static func refusal(_ part: String, _ token: String, isValid: Bool, isContent: Bool) -> (
    status: String, parameters: String
  )? {
    switch part {
    case "free": return nil
    case "valid": return isValid ? nil : ("401 Unauthorized", "error=\"invalid_token\", ")
    case "wider":
      return token.contains("gamma") ? nil : ("403 Forbidden", "error=\"insufficient_scope\", scope=\"gamma\", ")
    case "anew":
      return (
        "401 Unauthorized", "error=\"insufficient_user_authentication\", acr_values=\"mfa\", max_age=\"60\", "
      )
    default:
      if let number = Int(part) { return ("401 Unauthorized", HostileChallenge.field(number)) }
      if isContent, token.hasPrefix(part) { return nil }
      let claims = Data(#"{"access_token":{"acrs":{"essential":true,"value":"\#(part)"}}}"#.utf8)
      return ("401 Unauthorized", "error=\"insufficient_claims\", claims=\"\(claims.base64EncodedString())\", ")
    }
  }
}

/// Malformed or senseless challenges, each another one.
enum HostileChallenge {
  /// The number of kinds, by the number's rest.
  static let kinds = 6

  /// The whole field.
  static func field(_ number: Int) -> String {
    let much = String(repeating: "0123456789abcdef", count: 4000)
    let value =
      switch number % kinds {
      case 0: #"Bearer error="insufficient_claims", claims="\#(claims(number))""#
      case 1: #"Bearer realm="\#(number)\#(much)""#
      case 2: (0..<5000).map { "Bearer a=\($0)" }.joined(separator: ",")
      case 3: #"Bearer error="insufficient_claims", claims="\#(number)\#(much)""#
      case 4: "Bearer error=\"\(number)\(much)"
      default: String(repeating: ",", count: 60_000) + "Bearer scope=\"\(number)"
      }
    return "WWW-Authenticate: \(value)\r\n"
  }

  /// As large as claims may be.
  private static func claims(_ number: Int) -> String {
    Data(#"{"n\#(number)":"\#(String(repeating: "x", count: 16_000))"}"#.utf8).base64EncodedString()
  }
}
