// The forms in which programs expect a token of a command, and what they say of the server that it is for.

import Bytes
import HTTP
import HTTPClient
import Telemetry
import Tokens

/// A token of the running proxy.
struct GivenToken: Equatable {
  let token: String
  let expiresOn: UnixTime
  let expiresIn: Int64
}

extension GivenToken {
  /// nil for another answer.
  init?(_ response: FetchResponse) {
    guard response.status == 200, let members = JSONValue(json: response.body)?.members,
      let token = members["access_token"]?.text, let expiresOn = members["expires_on"]?.seconds,
      let expiresIn = members["expires_in"]?.seconds
    else { return nil }
    self.init(token: token, expiresOn: UnixTime(expiresOn), expiresIn: expiresIn)
  }
}

/// The form that a program expects.
enum TokenForm: Equatable {
  case plain
  case json
  /// git's protocol for credential helpers (git-credential(1)).
  case git(GitRequest, username: String)
  /// An ExecCredential of this version (Kubernetes, client.authentication.k8s.io).
  case kubectl(String)
  /// The protocol of docker's credential helpers.
  case docker(server: String, username: String)

  func text(_ given: GivenToken) -> String {
    switch self {
    case .plain: return given.token + "\n"
    case .json:
      return Self.line([
        "access_token": .string(given.token), "token_type": .string("Bearer"),
        "expires_on": .integer(given.expiresOn.seconds), "expires_in": .integer(given.expiresIn),
      ])
    case .git(let request, let username):
      let expiry = "password_expiry_utc=\(given.expiresOn.seconds)\n"
      if request.takesBearer {
        return "capability[]=authtype\nauthtype=Bearer\ncredential=\(given.token)\nephemeral=1\n" + expiry
      }
      return "username=\(request.username ?? username)\npassword=\(given.token)\n" + expiry
    case .kubectl(let version):
      return Self.line([
        "apiVersion": .string(version), "kind": .string("ExecCredential"),
        "status": .object([
          "token": .string(given.token),
          "expirationTimestamp": .string(given.expiresOn.rfc3339),
        ]),
      ])
    case .docker(let server, let username):
      return Self.line(["ServerURL": .string(server), "Username": .string(username), "Secret": .string(given.token)])
    }
  }

  private static func line(_ members: [String: JSONValue]) -> String {
    JSONValue.object(members).canonicalText() + "\n"
  }

  /// The version of ExecCredential that kubectl asks for; it takes no other one.
  static func kubectlVersion(_ environment: [String: String]) -> String {
    let usual = "client.authentication.k8s.io/v1"
    guard let text = environment["KUBERNETES_EXEC_INFO"],
      let version = JSONValue(json: Array(text.utf8))?.members?["apiVersion"]?.text,
      [usual, "client.authentication.k8s.io/v1beta1"].contains(version)
    else { return usual }
    return version
  }

  /// True if docker's name for a server (a host, or a URL) is that of the upstream.
  static func isServer(_ server: String, _ upstream: HTTPURL) -> Bool {
    guard let colon = server.firstRange(of: "://") else { return upstream.isAt(upstream.scheme.text, server) }
    return upstream.isAt(server[..<colon.lowerBound], server[colon.upperBound...].prefix { $0 != "/" })
  }
}

extension HTTPURL {
  /// True if it has this scheme and authority. The authority is a host, or a host and a port: with more in it, the
  /// program that asks and this one could read two different servers.
  fileprivate func isAt(_ scheme: some StringProtocol, _ authority: some StringProtocol) -> Bool {
    guard scheme.lowercased() == self.scheme.text, !authority.utf8.contains(where: "/?#".utf8.contains) else {
      return false
    }
    return HTTPURL(readable: "\(scheme)://\(authority)")?.origin == origin
  }
}

/// git's description of the credential that it wants: `name=value` lines.
struct GitRequest: Equatable {
  private let attributes: [String: String]
  /// True if this git sends other schemes than Basic (2.46 and newer), and Bearer is among those that it says the
  /// server demands.
  let takesBearer: Bool

  init(_ lines: [String]) {
    var attributes: [String: String] = [:]
    for line in lines {
      guard let equals = line.firstIndex(of: "=") else { continue }
      attributes[String(line[..<equals])] = String(line[line.index(after: equals)...])
    }
    self.attributes = attributes
    var demanded = AuthenticationChallengeList()
    for line in lines where line.hasPrefix("wwwauth[]=") { demanded.read(Array(line.utf8.dropFirst(10)).span) }
    let isDemanded = demanded.challenges.isEmpty || demanded.challenges.contains { $0.scheme == "bearer" }
    takesBearer = isDemanded && lines.contains("capability[]=authtype")
  }

  /// The user that the URL names.
  var username: String? { attributes["username"].flatMap { $0.isEmpty ? nil : $0 } }

  /// True if the upstream is the server, and has the path if git names one.
  func isFor(_ upstream: HTTPURL) -> Bool {
    guard let scheme = attributes["protocol"], let host = attributes["host"], upstream.isAt(scheme, host) else {
      return false
    }
    return attributes["path"].map { Self.isPlain($0) && "/\($0)/".hasPrefix(upstream.target) } ?? true
  }

  /// True if no segment of a path leads elsewhere, however a server decodes it: `.`, `..` and empty ones.
  private static func isPlain(_ path: String) -> Bool {
    var segments = path.split(separator: "/", omittingEmptySubsequences: false)
    if segments.last == "" { segments.removeLast() }
    return segments.allSatisfy { segment in
      // git has decoded the path once, so that a percent sign may be only that.
      let decoded = PercentEncoding.decoded(segment.utf8) ?? Array(segment.utf8)
      return !decoded.split(omittingEmptySubsequences: false) { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
        .contains { part in part.count < 3 && part.allSatisfy { $0 == UInt8(ascii: ".") } }
    }
  }
}
