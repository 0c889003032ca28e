// The memory of what a sign-in has to bring, in one process and between several.

import Glibc
import TestSupport
import Testing
import Tokens

@testable import Identity

@Suite(.timeLimit(.minutes(1)))
struct ChallengeMemoryTests {
  private let clock = ManualClock()

  private func memory(_ directory: TemporaryDirectory, client: String = "client", account: String? = nil) throws
    -> ChallengeMemory
  {
    let bench = AccountBench()
    let wish = TokenSubscription(
      application: try bench.application(clientID: client), account: account, scopes: try ScopeSet(["A"]))
    return ChallengeMemory(
      beside: directory.file("cache.json"), subscriptions: ["r": wish, "s": wish], now: { [clock] in clock.now })
  }

  private func need(_ number: Int = 1) throws -> SignInNeed {
    SignInNeed(claims: try Claims(json: #"{"n\#(number)":1}"#), since: clock.now)
  }

  @Test func `needs of a route join, and are over after a day`() async throws {
    let memory = ChallengeMemory(now: { [clock] in clock.now })
    memory.remember(try need(1), route: "r")
    memory.remember(try need(2), route: "r")
    #expect(await memory.need(of: "r")?.claims?.text == #"{"n1":1,"n2":1}"#)
    #expect(await memory.need(of: "s") == nil)
    clock.advance(SignInNeed.lifetime)
    #expect(await memory.needs().isEmpty)
  }

  @Test func `a route that is gone, or another person's, needs nothing any more, and the others do`() async throws {
    let bench = AccountBench()
    func wish(_ account: String?) throws -> TokenSubscription {
      TokenSubscription(
        application: try bench.application(clientID: "client"), account: account, scopes: try ScopeSet(["A"]))
    }
    let memory = ChallengeMemory(now: { [clock] in clock.now })
    memory.follow(["gone": try wish(nil), "others": try wish("alice"), "stays": try wish(nil)])
    for route in ["gone", "others", "stays"] { memory.remember(try need(), route: route) }
    memory.follow(["others": try wish("bob"), "stays": try wish(nil)])
    #expect(memory.knownNeeds.keys.sorted() == ["stays"])
  }

  @Test func `a sign-in ends what it met, and nothing else`() async throws {
    let memory = ChallengeMemory(now: { [clock] in clock.now })
    memory.remember(try need(1), route: "r")
    memory.remember(try need(2), route: "s")
    await memory.met(by: try need(1), routes: ["r", "s"])
    #expect(await memory.needs().keys.sorted() == ["s"])
  }

  @Test func `another process finds the need, and when it is met the first one knows`() async throws {
    let directory = try TemporaryDirectory()
    let first = try memory(directory)
    let second = try memory(directory)
    first.remember(try need(), route: "r")
    while await second.need(of: "r") == nil { try await Task.sleep(for: .milliseconds(5)) }
    #expect(await second.need(of: "r") == (try need()))
    await second.met(by: try need(), routes: ["r"])
    while await first.need(of: "r") != nil { try await Task.sleep(for: .milliseconds(5)) }
    var status = stat()
    #expect(stat(directory.file("cache.json.challenges"), &status) == 0)
    #expect(status.st_mode & 0o777 == 0o600)
  }

  @Test func `other accounts and applications have needs of their own`() async throws {
    let directory = try TemporaryDirectory()
    let first = try memory(directory)
    first.remember(try need(), route: "r")
    let same = try memory(directory)
    while await same.need(of: "r") == nil { try await Task.sleep(for: .milliseconds(5)) }
    #expect(await (try memory(directory, client: "other")).need(of: "r") == nil)
    #expect(await (try memory(directory, account: "bob")).need(of: "r") == nil)
  }

  @Test(arguments: ["", "null", "{", #"{"needs":{"x":1}}"#, #"{"needs":[]}"#])
  func `a file that is something else is replaced with the next need`(text: String) async throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write(text, to: "cache.json.challenges")
    chmod(path, 0o600)
    let memory = try memory(directory)
    #expect(await memory.needs().isEmpty)
    memory.remember(try need(), route: "r")
    let other = try self.memory(directory)
    while await other.need(of: "r") == nil { try await Task.sleep(for: .milliseconds(5)) }
  }

  @Test func `where nothing can be written the process itself remembers`() async throws {
    let bench = AccountBench()
    let wish = TokenSubscription(
      application: try bench.application(), account: nil, scopes: try ScopeSet(["A"]))
    let memory = ChallengeMemory(
      beside: "/nowhere/at/all/cache.json", subscriptions: ["r": wish], now: { [clock] in clock.now })
    memory.remember(try need(), route: "r")
    #expect(await memory.need(of: "r") == (try need()))
  }

  @Test func `a file that must not be trusted is neither read nor the end of the memory`() async throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write(#"{"needs":{}}"#, to: "cache.json.challenges")
    chmod(path, 0o666)
    let memory = try memory(directory)
    memory.remember(try need(), route: "r")
    try await Task.sleep(for: .milliseconds(50))
    #expect(await memory.need(of: "r") == (try need()))
    #expect(directory.read("cache.json.challenges") == #"{"needs":{}}"#)
  }
}
