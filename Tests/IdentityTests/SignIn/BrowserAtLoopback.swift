// A browser that was sent to a provider, as far as the application sees it: what the address asked for, and what comes back.

import FoundationEssentials
import Testing
import TestSupport

/// The members of an authorization request, and the way back to its redirect URI.
struct BrowserAtLoopback: Sendable {
  let asked: [String: String]
  let port: Int

  init(_ address: String) throws {
    let query = try #require(address.split(separator: "?").dropFirst().first)
    asked = SignInProvider.members(query.utf8)
    let redirect = try #require(asked["redirect_uri"])
    try #require(redirect.hasPrefix("http://localhost:"))
    port = try #require(Int(redirect.dropFirst("http://localhost:".count)))
  }

  var state: String { asked["state"] ?? "" }

  /// Brings a form to the redirect URI in the way that was asked for; the page that came.
  @discardableResult
  func bring(_ form: String) async throws -> String {
    try await send(
      asked["response_mode"] == "form_post"
        ? """
        POST / HTTP/1.1\r\nHost: localhost:\(port)\r\nContent-Type: application/x-www-form-urlencoded; charset=utf-8\r
        Content-Length: \(form.utf8.count)\r\n\r\n\(form)
        """
        : "GET /?\(form) HTTP/1.1\r\nHost: localhost:\(port)\r\n\r\n")
  }

  /// Sends bytes as they are; what came back.
  func send(_ bytes: String) async throws -> String {
    let connection = try RawConnection(port: port)
    try await connection.send(bytes)
    return try await connection.receive()
  }
}
