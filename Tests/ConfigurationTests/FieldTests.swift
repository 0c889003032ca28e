// A credential in place of a token, and request_headers.

import Bytes
import Routing
import TestSupport
import Testing

@testable import Configuration

@Suite struct FieldTests {
  private static let secret = "0123456789abcdef"

  private static func text(_ token: String, _ more: String = "") -> String { text(route: "token: \(token)\(more)") }

  private static func text(route: String) -> String {
    """
    listeners: [{address: 127.0.0.1:8080}]
    applications: {generic: {authority: https://id.example, client_id: c, client_secret: s3cret}}
    routes:
      - {name: r, path: /r/, upstream: 'https://api.example', \(route)}

    """
  }

  @Test(arguments: [
    ("{header: X-API-Key, value: 0123456789abcdef}", "X-API-Key", "0123456789abcdef"),
    ("{header: Authorization, value: ApiKey 0123456789}", "Authorization", "ApiKey 0123456789"),
    ("{basic: {username: Aladdin, password: open sesame}}", "Authorization", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
    ("{basic: {username: '${USER_NAME}', password: b}}", "Authorization", "Basic YTpi"),
  ])
  func `a key or Basic credentials are taken in place of a token, without an application`(
    token: String, name: String, value: String
  ) throws {
    let settings = try decoded(Self.text(token), environment: ["USER_NAME": "a"])
    let fixed = try #require(settings.routes[0].token.fixed)
    #expect(fixed.name.text == name && fixed.value.revealed() == value)
    #expect(settings.routes[0].token.issued == nil)
    #expect(!settings.given.contains { $0.value.contains("0123456789") || $0.value.contains("sesame") })
    // Nothing of tokens is said of it.
    #expect(!settings.standards.contains { $0.key.hasPrefix("routes[0].token.") && !$0.key.hasSuffix(".existing") })
    #expect(settings.warnings.isEmpty)
  }

  @Test func `a file has the value, and is watched`() throws {
    var read: Set<String> = []
    let text = Self.text("{header: X-API-Key, value_file: key, existing: keep}")
    let settings = try Settings.load(
      file: "/x/proxy.yaml", environment: [:],
      files: FileAccess(
        readConfiguration: { _, _ throws(UnreadableFile) in Array(text.utf8) },
        read: { _, _ throws(UnreadableFile) in Array("0123456789abcdef\n".utf8) }), read: &read)
    #expect(settings.routes[0].token.fixed?.value.revealed() == Self.secret)
    #expect(settings.routes[0].tokenRules.existing == .keep)
    #expect(read.contains("/x/key"))
  }

  @Test(
    arguments: issueTable(
      """
      token: {header: X-API-Key}
        routes[0].token needs 'value'
      token: {value: abcdefgh}, application: generic
        routes[0].token.value is about 'header', which routes[0].token does not have
      token: {header: X-API-Key, value: 0123456789abcdef}, application: generic
        routes[0].application has no meaning beside 'header': no provider gives that credential
      token: {header: X-API-Key, value: 0123456789abcdef, scopes: [a], as: application, replay_limit: 1KiB}
        routes[0].token has both 'header' and 'as'; keep one
        routes[0].token has both 'header' and 'scopes'; keep one
        routes[0].token has both 'header' and 'replay_limit'; keep one
      token: {header: X-API-Key, value: 0123456789abcdef, basic: {username: a, password: b}}
        routes[0].token has both 'header' and 'basic'; keep one
      token: {header: Cookie, value: 0123456789abcdef}
        routes[0].token.header: 'Cookie' has another meaning already; an API's key is in Authorization or in a field of
          its own, such as X-API-Key
      token: {header: 'X Key', value: 0123456789abcdef}
        routes[0].token.header: 'X Key' is not a field name
      token: {header: X-API-Key, value: short}
        routes[0].token: the value of 'X-API-Key' is 8 to 4096 ASCII characters without a blank at an end
      token: {basic: {username: 'a:b', password: c}}
        routes[0].token.basic: Basic credentials are a user name without ':' and a password, both without control
          characters, together at most 3000 bytes (RFC 7617)
      token: {basic: {username: a}}
        routes[0].token.basic needs 'password' or 'password_file'
      token: {basic: {password: c}}
        routes[0].token.basic needs 'username'
      token: {header: X.Key, value: 0123456789abcdef}, hand_out: proxies
        routes[0].hand_out: not every proxy can copy the field 'X.Key': its name has more than letters, digits and '-'
      """))
  func `mistakes about it are named`(route: String, expected: [String]) {
    #expect(messages(Self.text(route: route)).sorted() == expected.sorted())
  }

  @Test func `a token file has a route with a token of its own, and a path of its own`() throws {
    let own = Self.text("{as: application, scopes: [a]}", ", application: generic, token_file: {path: /run/x}")
    let file = try #require(try decoded(own).routes[0].tokenFile)
    #expect(file.path.value == "/run/x" && file.group == nil && file.leastLife == .seconds(30))
    #expect(
      messages(Self.text("none", ", token_file: {path: /run/x}"))
        == ["routes[0].token_file: the route has no token of its own that a file could have"])
    #expect(
      messages(own + own.split(separator: "\n")[3].replacing("name: r, path: /r/", with: "name: s, path: /s/") + "\n")
        == ["routes[1].token_file.path: /run/x is the token file of route 'r' already"])
  }

  @Test func `it is not sent in clear`() {
    let text = Self.text("{header: X-API-Key, value: 0123456789abcdef}").replacing("https://api", with: "http://api")
    #expect(messages(text).first?.contains("would travel in clear to api.example") == true)
  }

  @Test func `fields are set and removed, and those of variables are hidden`() throws {
    let settings = try decoded(
      Self.text("none", ", request_headers: {set: {X-B: '${KEY}', X-A: a}, remove: [User-Agent]}"),
      environment: ["KEY": "from-the-environment"])
    let fields = try #require(settings.routes[0].requestFields)
    #expect(String(decoding: fields.lines, as: UTF8.self) == "X-A: a\r\nX-B: from-the-environment\r\n")
    #expect(settings.given.contains { $0.key == "routes[0].request_headers.set.X-A" && $0.value == "a" })
    #expect(!settings.given.contains { $0.value.contains("from-the-environment") })
  }

  @Test(
    arguments: issueTable(
      """
      token: none, request_headers: {}
        routes[0].request_headers needs 'set' or 'remove'
      token: none, request_headers: {set: {Host: a}}
        routes[0].request_headers.set: 'Host' is not for a route to set or remove: framing, identity, path or the proxy
          itself depend on it
      token: none, request_headers: {remove: [Via]}
        routes[0].request_headers.remove[0]: 'Via' is not for a route to set or remove: framing, identity, path or the
          proxy itself depend on it
      token: none, request_headers: {set: {X-A: a}, remove: [x_a]}
        routes[0].request_headers: 'X-A' and 'x_a' are one field to most programs; keep one
      token: none, request_headers: {set: {'X A': a}}
        routes[0].request_headers.set: 'X A' is not a field name
      token: none, request_headers: {set: {X-A: "a\\u00e9"}}
        routes[0].request_headers: the value of 'X-A' has a character that is not ASCII, or a blank at an end
      token: {header: X-API-Key, value: 0123456789abcdef}, request_headers: {remove: [x-api-key]}
        routes[0].request_headers.remove[0]: 'x-api-key' is the field of the route's 'token'
      """))
  func `mistakes about them are named`(route: String, expected: [String]) {
    #expect(messages(Self.text(route: route)) == expected)
  }
}
