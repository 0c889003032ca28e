// A browser that was sent to a provider, as far as the application sees it: what the address asked for, and what comes
// back.

import FoundationEssentials
import Testing
import TestSupport

/// The members of an authorization request, and the way back to its redirect URI.
struct BrowserAtLoopback: Sendable {
  let asked: [String: String]
  let port: Int
  let path: String

  /// Goes to the address of this machine that a sign-in begins with, and on to the provider.
  init(_ start: String) async throws {
    let origin = try #require(URLComponents(string: start))
    let connection = try RawConnection(port: try #require(origin.port), patience: 240)
    try await connection.send("GET \(origin.path) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port ?? 0)\r\n\r\n")
    let answer = try await connection.receive()
    try #require(answer.hasPrefix("HTTP/1.1 303 "), "\(answer)")
    let address = try #require(
      answer.split(separator: "\r\n").first { $0.hasPrefix("Location: ") }.map { String($0.dropFirst(10)) })
    let query = try #require(address.split(separator: "?").dropFirst().first)
    asked = SignInProvider.members(query.utf8)
    let redirect = try #require(asked["redirect_uri"])
    let place = try #require(URLComponents(string: redirect))
    try #require(place.scheme == "http" && place.host == "localhost")
    port = try #require(place.port)
    path = place.path.isEmpty ? "/" : place.path
  }

  var state: String { asked["state"] ?? "" }

  /// Brings a form to the redirect URI in the way that was asked for; the page that came.
  @discardableResult
  func bring(_ form: String) async throws -> String {
    try await send(
      asked["response_mode"] == "form_post"
        ? """
        POST \(path) HTTP/1.1\r\nHost: localhost:\(port)\r\nContent-Type: application/x-www-form-urlencoded; \
        charset=utf-8\r
        Content-Length: \(form.utf8.count)\r\n\r\n\(form)
        """
        : "GET \(path)?\(form) HTTP/1.1\r\nHost: localhost:\(port)\r\n\r\n")
  }

  /// Sends bytes as they are; what came back.
  func send(_ bytes: String) async throws -> String {
    let connection = try RawConnection(port: port, patience: 240)
    try await connection.send(bytes)
    return try await connection.receive()
  }
}
