// What is fetched of an API that describes itself, and what is not.

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

  @Test func `a fault is kept for a minute, whatever address the next challenge names`() async throws {
    let web = Web([Self.path: FetchResponse(status: 200, body: Array("{}".utf8))])
    let clock = ManualClock()
    let directory = ResourceDirectory(try HTTPURL(Self.api), fetch: web.fetch, now: { clock.now })
    for number in 0..<20 {
      await #expect(throws: DiscoveryFault.self) {
        _ = try await directory.description(challenge: number == 0 ? nil : "https://mcp.example/\(number)")
      }
    }
    #expect(web.urls == [Self.path])
    clock.advance(60)
    web.answers.withLock { $0[Self.path] = FetchResponse(status: 200, body: Self.document) }
    #expect(try await directory.description(challenge: nil) != nil)
  }

  @Test(arguments: [
    (FetchResponse(status: 302, fields: [("location", "https://evil.example/")]), DiscoveryFault.redirect(path)),
    (FetchResponse(status: 200, body: [UInt8](repeating: 0x20, count: 65_537)), .tooLarge(path)),
    (FetchResponse(status: 500), .status(500, path)),
  ])
  func `a redirect, a huge document and a failing server are refused`(
    answer: FetchResponse, fault: DiscoveryFault
  ) async throws {
    let web = Web([Self.path: answer])
    await #expect(throws: fault) {
      _ = try await ResourceDirectory.description(of: try HTTPURL(Self.api), challenge: nil, web.fetch)
    }
    #expect(web.urls == [Self.path])
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
