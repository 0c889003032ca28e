// The form of the proxy's own 401: a document for programs, a page for people, and the same status and challenge in
// both.

import HTTP
import HTTPServer
import Identity
import Routing
import Testing
import Tokens

@testable import Proxy

@Suite(.timeLimit(.minutes(5)))
struct ErrorResponseTests {
  @Test(
    arguments: [
      ("GET", "", ResponseAudience.program), ("GET", "Accept: */*\r\n", .program),
      ("GET", "Accept: application/json, text/plain\r\n", .program), ("GET", "Accept: text/html\r\n", .person),
      ("GET", "Accept: application/xhtml+xml , Text/HTML;q=0.9,*/*;q=0.8\r\n", .person),
      ("GET", "Accept: a/b\r\nAccept: text/html\r\n", .person), ("GET", "Accept: text/htmlx\r\n", .program),
      ("GET", "Sec-Fetch-Mode: navigate\r\n", .person), ("HEAD", "Sec-Fetch-Mode: navigate\r\n", .person),
      ("GET", "Sec-Fetch-Mode: cors\r\nAccept: text/html\r\n", .program),
      ("POST", "Sec-Fetch-Mode: navigate\r\n", .sender), ("POST", "Accept: text/html\r\n", .sender),
      ("POST", "Accept: */*\r\n", .program),
    ])
  func `the request decides the form of the answer`(method: String, fields: String, audience: ResponseAudience) throws {
    let request = try RequestContext("\(method) / HTTP/1.1\r\nHost: h\r\n\(fields)\r\n")
    #expect(ResponseAudience(request.head, request.headBytes.bytes) == audience)
  }

  private func bench(_ rules: RouteTokenRules = RouteTokenRules()) throws -> ChallengeBench {
    try ChallengeBench(rules: rules, person: true) { _ in ChallengeBench.fine }
  }

  @Test func `a program gets the document, with the place to sign in`() async throws {
    let answer = try await bench().get("/", "Accept: */*\r\n")
    #expect(answer.hasPrefix("HTTP/1.1 401 Unauthorized\r\nContent-Type: application/problem+json\r\n"))
    #expect(answer.contains("Cache-Control: no-store\r\n"))
    #expect(
      answer.contains("\r\nWWW-Authenticate: Bearer realm=\"\", authorization_uri=\"https://id.example/realms/demo\""))
    #expect(answer.contains(#""reason":"no_account","scopes":["A"],"sign_in":"/.bearer/sign-in?route=all""#))
  }

  @Test func `a person gets a page that keeps to itself, with the same status and challenge`() async throws {
    let bench = try bench()
    let document = try await bench.get("/")
    let page = try await bench.get("/", "Sec-Fetch-Mode: navigate\r\n")
    #expect(page.hasPrefix("HTTP/1.1 401 Unauthorized\r\nContent-Type: text/html; charset=utf-8\r\n"))
    let challenge = document.split(separator: "\r\n").first { $0.hasPrefix("WWW-Authenticate: ") }
    #expect(page.contains(try #require(challenge)))
    #expect(page.contains("Content-Security-Policy: default-src 'none'; style-src 'sha256-"))
    #expect(page.contains("frame-ancestors 'none'"))
    #expect(page.contains("Cache-Control: no-store\r\n"))
    #expect(page.contains("<a class=\"button\" href=\"/.bearer/sign-in?route=all\">Sign in</a>"))
    #expect(page.contains("<li><code>A</code></li>"))
    #expect(!page.contains("<script"))
  }

  @Test func `a navigation is redirected to the sign-in page if the route says so, and no other request is`()
    async throws
  {
    let bench = try bench(RouteTokenRules(onInteractionRequired: .redirect))
    let redirect = try await bench.get("/", "Sec-Fetch-Mode: navigate\r\n")
    #expect(redirect.hasPrefix("HTTP/1.1 303 See Other\r\n"))
    #expect(redirect.contains("\r\nLocation: /.bearer/sign-in?route=all\r\n"))
    #expect(try await bench.get("/").hasPrefix("HTTP/1.1 401"))
    #expect(try await bench.post("a=b", "Sec-Fetch-Mode: navigate\r\n").hasPrefix("HTTP/1.1 401"))
    #expect(bench.count("interaction_required", "answered") == 3)
  }

  @Test func `interpolated text is escaped`() throws {
    let required = InteractionRequired(
      reason: .basicAction, scopes: try ScopeSet(["<b>", "a'&b"]), authority: try Authority("https://id.example/a"))
    var problem = ProblemDocument(.token(AcquisitionError(.interaction(required))))
    problem.title = "T<"
    let page = problem.page(
      route: "r", displayName: nil, requestID: "<i>", signIn: "/x?a=\"b\"",
      commands: OperatorCommands(configuration: "p.yaml"))
    let text = String(decoding: page.html, as: UTF8.self)
    for wrong in ["<b>", "'&b", "T<<", "\"b\"", "<i>"] { #expect(!text.contains(wrong), "\(wrong)") }
    #expect(text.contains("href=\"/x?a=&quot;b&quot;\""))
  }

  @Test(arguments: [(false, "HTTP/1.1 503"), (true, "HTTP/1.1 200")])
  func `while the provider is down requests fail, or go out without a token if the route says so`(
    forwards: Bool, expected: String
  ) async throws {
    let rules = RouteTokenRules(whenUnavailable: forwards ? .forwardWithout : .fail)
    let bench = try ChallengeBench(rules: rules, isDown: true) { _ in
      ChallengeBench.fine
    }
    #expect(try await bench.get("/", "Authorization: Basic abc\r\n").hasPrefix(expected))
    // Not with the caller's own either.
    #expect(bench.requests.map(\.token) == (forwards ? [nil] : []))
  }
}
