// A person at a browser, without sockets: hands requests to the provider, keeps its cookie, fills in its forms.

import Bytes
import HTTPServer
import Platform
import TestSupport
import Testing
import Tokens

@testable import DemoProvider

/// Keeps one browser's state between requests.
final class PersonAtBrowser {
  typealias Sample = DemoFixture.Sample

  static let verifier = "a-verifier-of-forty-three-characters-or-more"
  static let redirectURI = "http://localhost:4711"

  let provider: IdentityProvider
  var now = DemoFixture.now
  private(set) var cookie: String?

  init(_ provider: IdentityProvider) {
    self.provider = provider
  }

  convenience init() throws {
    try self.init(DemoFixture.provider())
  }

  /// The parameters that reached the redirect URI.
  struct Reply {
    private let form: ReplyForm

    subscript(name: String) -> String? { form[name] }

    init?(_ answer: DemoAnswer) {
      guard let query = answer.field("location")?.split(separator: "?", maxSplits: 1).dropFirst().first else {
        return nil
      }
      do throws(ReplyForm.Problem) {
        form = try ReplyForm(Array(query.utf8))
      } catch {
        return nil
      }
    }
  }

  /// Sends a request as this browser.
  func send(_ method: String, _ path: String, query: String = "", form: [String: String]? = nil) -> DemoAnswer {
    var request = DemoRequest(method: method, path: path, query: query)
    if let cookie { request.fields.append(("cookie", "other=1; \(Browser.cookieName)=\(cookie)")) }
    if let form {
      request.fields.append(("origin", DemoFixture.origin))
      request.body = .whole(Array(Self.encoded(form).utf8))
    }
    let answer = provider.answer(request, now: now)
    for (name, value) in answer.response.fields where name == "set-cookie" {
      cookie = Browser.name(inCookies: String(value.prefix { $0 != ";" }))
    }
    return answer
  }

  static func encoded(_ form: [String: String]) -> String {
    form.map { name, value in
      var bytes = ""
      for byte in value.utf8 { bytes += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16) }
      return "\(name)=\(bytes)"
    }.joined(separator: "&")
  }

  static func challenge() throws -> String { try Base64URL.encode(SHA256.digest(of: Array(verifier.utf8))) }

  /// Opens an authorization request: a good one, changed as told; an empty value leaves a parameter out.
  func authorize(_ change: [String: String] = [:], tenant: String = Sample.tenant) throws -> DemoAnswer {
    var form = [
      "client_id": Sample.desk, "response_type": "code", "redirect_uri": Self.redirectURI, "state": "s 1&2",
      "nonce": "n1", "scope": "openid profile offline_access api://orders/Orders.Read",
      "code_challenge": try Self.challenge(), "code_challenge_method": "S256",
    ]
    form.merge(change) { $1 }
    return send("GET", "/\(tenant)/oauth2/v2.0/authorize", query: Self.encoded(form.filter { !$0.value.isEmpty }))
  }

  /// Posts a form of a page with one of its buttons.
  func press(_ action: String, on page: DemoAnswer, _ fields: [String: String] = [:]) throws -> DemoAnswer {
    var form = ["interaction": try #require(page.between("name=\"interaction\" value=\"", "\""), "\(page.text)")]
    form["action"] = action
    form.merge(fields) { $1 }
    return send("POST", try #require(page.between("method=\"post\" action=\"", "\"")), form: form)
  }

  /// Types user name and password.
  func signIn(_ user: String = Sample.alice, on page: DemoAnswer, password: String = Sample.password) throws
    -> DemoAnswer
  {
    try press("sign-in", on: page, ["user": user, "password": password])
  }

  /// Types the one-time code that the page shows in place of a telephone.
  func verify(on page: DemoAnswer, code: String? = nil) throws -> DemoAnswer {
    try press("verify", on: page, ["code": code ?? #require(page.between("the code is ", "</footer>"))])
  }

  /// A sign-in with all that is asked for on the way, from the request to its code.
  func code(
    _ user: String = Sample.alice, _ change: [String: String] = [:], tenant: String = Sample.tenant
  ) throws -> String {
    var answer = try authorize(change, tenant: tenant)
    if answer.heading == "Sign in" { answer = try signIn(user, on: answer) }
    if answer.heading == "Verify that it is you" { answer = try verify(on: answer) }
    if answer.heading?.hasSuffix("asks for your permission") == true { answer = try press("accept", on: answer) }
    return try #require(Reply(answer)?["code"], "\(answer.text)")
  }

  /// Sends a token request of the public application: the answer, and its document.
  func token(
    _ form: [String: String], tenant: String = Sample.tenant
  ) throws -> (answer: DemoAnswer, document: [String: JSONValue]) {
    var form = form
    if form["client_id"] == nil { form["client_id"] = Sample.desk }
    let answer = provider.answer(
      DemoFixture.tokenRequest(Self.encoded(form.filter { !$0.value.isEmpty }), tenant: tenant), now: now)
    return (answer, try DemoFixture.json(answer))
  }

  /// Redeems a code, with a good form changed as told.
  func redeem(
    _ code: String, _ change: [String: String] = [:], tenant: String = Sample.tenant
  ) throws -> (answer: DemoAnswer, document: [String: JSONValue]) {
    var form = [
      "grant_type": "authorization_code", "code": code, "redirect_uri": Self.redirectURI,
      "code_verifier": Self.verifier, "client_info": "1",
    ]
    form.merge(change) { $1 }
    return try token(form, tenant: tenant)
  }

  /// Redeems a refresh token.
  func refresh(
    _ token: String, scope: String = "api://orders/Orders.Read", claims: String = "", tenant: String = Sample.tenant
  ) throws -> (answer: DemoAnswer, document: [String: JSONValue]) {
    try self.token(
      ["grant_type": "refresh_token", "refresh_token": token, "scope": scope, "claims": claims], tenant: tenant)
  }

  /// Does a task of the testing endpoint.
  func testing(_ task: Endpoint, _ json: String) {
    let answer = provider.answer(
      DemoRequest(method: "POST", path: task.path(), body: .whole(Array(json.utf8))), now: now)
    #expect(answer.status == 200, "\(answer.text)")
  }
}

extension DemoAnswer {
  /// The text between two others, the first time.
  func between(_ start: String, _ end: String) -> String? { text.between(start, end) }

  /// A page's heading.
  var heading: String? { between("<h1>", "</h1>") }
}
