// The metadata that are fetched of an API that describes itself.

import Bytes
import HTTP
import HTTPClient
import Synchronization
import Testing
import Tokens

@testable import Identity

@Suite struct ResourceDirectoryTests {
  private static let api = "https://mcp.example/mcp"
  private static let path = "https://mcp.example/.well-known/oauth-protected-resource/mcp"
  private static let document = Array(
    #"{"resource":"https://mcp.example/mcp","authorization_servers":["https://id.example"],"scopes_supported":["a"]}"#
      .utf8)

  /// Answers, and notes each request.
  private final class Web: Sendable {
    let requests = Mutex<[FetchRequest]>([])
    let answers: Mutex<[String: FetchResponse]>

    init(_ answers: [String: FetchResponse]) { self.answers = Mutex(answers) }

    var fetch: Fetch {
      { request throws(FetchError) in
        self.requests.withLock { $0.append(request) }
        guard let answer = self.answers.withLock({ $0["\(request.url)"] }) else { return FetchResponse(status: 404) }
        if answer.body.count > request.bodyLimit { throw .tooLarge(host: request.url.host) }
        return answer
      }
    }

    var urls: [String] { requests.withLock { $0.map { "\($0.url)" } } }
  }

  @Test func `a description is fetched once for all who wait, and kept for an hour`() async throws {
    let web = Web([Self.path: FetchResponse(status: 200, body: Self.document)])
    let clock = ManualClock()
    let directory = ResourceDirectory(try HTTPURL(Self.api), fetch: web.fetch, now: { clock.now })
    try await withThrowingTaskGroup(of: ScopeSet?.self) { group in
      for _ in 0..<50 { group.addTask { try await directory.description(challenge: nil)?.scopes } }
      for try await scopes in group { #expect(try scopes == ScopeSet(["a"])) }
    }
    #expect(web.urls == [Self.path])
    clock.advance(3599)
    _ = try await directory.description(challenge: nil)
    #expect(web.urls.count == 1)
    clock.advance(1)
    _ = try await directory.description(challenge: nil)
    #expect(web.urls.count == 2)
  }

  @Test(arguments: [
    FetchResponse(status: 200, body: Array("{}".utf8)), FetchResponse(status: 401), FetchResponse(status: 404),
    FetchResponse(status: 410), FetchResponse(status: 429), FetchResponse(status: 503),
  ])
  func `a fault, and that there is nothing, is remembered for a minute`(answer: FetchResponse) async throws {
    let root = "https://mcp.example/.well-known/oauth-protected-resource"
    let web = Web([Self.path: answer, root: answer])
    let clock = ManualClock()
    let directory = ResourceDirectory(try HTTPURL(Self.api), fetch: web.fetch, now: { clock.now })
    for _ in 0..<20 {
      do throws(DiscoveryFault) {
        #expect(try await directory.description(challenge: nil) == nil)
        #expect(answer.status == 404 || answer.status == 410)
      } catch {
        #expect(answer.status != 404 && answer.status != 410)
      }
    }
    #expect(web.urls == [Self.path, root])
    web.answers.withLock { $0[Self.path] = FetchResponse(status: 200, body: Self.document) }
    clock.advance(60)
    #expect(try await directory.description(challenge: nil) != nil)
  }

  @Test(arguments: [404, 401, 503])
  func `a challenge that names another address is tried at once, and a few of them within a minute`(
    status: Int
  ) async throws {
    let web = Web([Self.path: FetchResponse(status: status)])
    let (clock, named) = (ManualClock(), "https://mcp.example/named")
    let directory = ResourceDirectory(try HTTPURL(Self.api), fetch: web.fetch, now: { clock.now })
    func description(_ challenge: String?) async -> ProtectedResource? {
      do throws(DiscoveryFault) { return try await directory.description(challenge: challenge) } catch { return nil }
    }
    for challenge in [nil, named, named, nil] { #expect(await description(challenge) == nil) }
    let count = web.urls.count
    #expect(web.urls.last == named)
    for number in 0..<20 { #expect(await description("https://mcp.example/\(number)") == nil) }
    #expect(web.urls.count == count + 2)
    clock.advance(60)
    web.answers.withLock { $0[named] = FetchResponse(status: 200, body: Self.document) }
    #expect(await description("https://mcp.example/other") == nil)
    #expect(await description(named) != nil)
    #expect(await description(nil) != nil)
  }

  @Test(arguments: [
    (FetchResponse(status: 302, fields: [("location", "https://evil.example/")]), DiscoveryFault.redirect(path)),
    (FetchResponse(status: 200, body: [UInt8](repeating: 0x20, count: 65_537)), .tooLarge(path)),
    (FetchResponse(status: 500), .status(500, path)), (FetchResponse(status: 401), .status(401, path)),
    (FetchResponse(status: 429), .status(429, path)),
  ])
  func `a redirect, a huge document and a failing server are refused`(
    answer: FetchResponse, fault: DiscoveryFault
  ) async throws {
    let web = Web([Self.path: answer])
    await #expect(throws: fault) {
      _ = try await ResourceDirectory.description(of: try HTTPURL(Self.api), challenge: nil, web.fetch)
    }
    #expect(web.urls.first == Self.path)
    #expect(!web.urls.contains { $0.contains("evil") })
  }

  @Test(arguments: [
    FetchResponse(status: 302, fields: [("location", "https://evil.example/")]), FetchResponse(status: 500),
    FetchResponse(status: 403), FetchResponse(status: 200, body: Array("<html>".utf8)),
  ])
  func `the next places are tried behind a fault of the first, and the first fault is thrown`(
    answer: FetchResponse
  ) async throws {
    let issuer = "https://id.example/a"
    let openID = "https://id.example/.well-known/openid-configuration/a"
    let metadata =
      #"{"issuer":"https://id.example/a","token_endpoint":"https://id.example/token","#
      + #""authorization_endpoint":"https://id.example/authorize"}"#
    let first = "https://id.example/.well-known/oauth-authorization-server/a"
    let web = Web([first: answer, openID: FetchResponse(status: 200, body: Array(metadata.utf8))])
    let api = try HTTPURL(Self.api)
    #expect(try await ResourceDirectory.provider(issuer, isStranger: true, web.fetch).members["issuer"]?.text == issuer)
    #expect(web.urls == [first, openID])
    web.answers.withLock { $0[openID] = FetchResponse(status: 503) }
    let fault = await #expect(throws: DiscoveryFault.self) {
      _ = try await ResourceDirectory.provider(issuer, isStranger: true, web.fetch)
    }
    #expect(fault?.words.contains(first) == true)
    let root = "https://mcp.example/.well-known/oauth-protected-resource"
    let both = Web([Self.path: answer, root: FetchResponse(status: 200, body: Self.document)])
    #expect(try await ResourceDirectory.description(of: api, challenge: nil, both.fetch) != nil)
  }

  @Test func `a provider that an API names is at no private address, unless the configuration has it`() async throws {
    for refuses in [true, false] {
      let web = Web([:])
      await #expect(throws: DiscoveryFault.providerUnknown("https://id.example/a")) {
        _ = try await ResourceDirectory.provider("https://id.example/a", isStranger: refuses, web.fetch)
      }
      let requests = web.requests.withLock { $0 }
      #expect(requests.map(\.refusesPrivateAddresses) == [refuses, refuses, refuses])
      #expect(requests.allSatisfy { $0.bodyLimit == 65_536 })
    }
  }
}
