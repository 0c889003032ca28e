// The memory of what a sign-in has to bring, in one process and between several.

import Bytes
import Glibc
import TestSupport
import Testing
import Tokens

@testable import Identity

@Suite(.timeLimit(.minutes(5)))
struct SignInRequirementsTests {
  private let directory: TemporaryDirectory
  private let clock = ManualClock()
  /// Attempts to change the shared text.
  private let changes = Tally()

  /// A file that counts the attempts to change it.
  private struct CountedText: SharedText {
    let file: FileText
    let changes: Tally

    func read() async -> [UInt8]? { await file.read() }

    func change(_ change: @escaping @Sendable ([UInt8]) -> [UInt8]?) async -> Bool {
      defer { changes.signal() }
      return await file.change(change)
    }
  }

  /// A text one of whose readings and changes takes as long as a test wants.
  private struct SlowText: SharedText {
    let text: CountedText
    let readings = Hold()
    let changes = Hold()

    struct Hold {
      let begins = Tally()
      let arrived = Tally()
      let ends = Tally()

      func pass() async {
        guard begins.count > 0, arrived.count == 0 else { return }
        arrived.signal()
        await ends.wait(for: 1)
      }
    }

    func read() async -> [UInt8]? {
      let bytes = await text.read()
      await readings.pass()
      return bytes
    }

    func change(_ change: @escaping @Sendable ([UInt8]) -> [UInt8]?) async -> Bool {
      await changes.pass()
      return await text.change(change)
    }
  }

  init() throws { directory = try TemporaryDirectory() }

  private var text: CountedText {
    CountedText(file: FileText(path: directory.file("cache.json.challenges")), changes: changes)
  }

  private func memory(
    client: String = "client", account: String? = nil, in slow: SlowText? = nil
  ) throws -> SignInRequirements {
    let bench = AccountBench()
    let wish = try bench.subscription(account: account, of: bench.application(clientID: client))
    return SignInRequirements(in: slow ?? text, subscriptions: ["r": wish, "s": wish], now: { [clock] in clock.now })
  }

  private func need(_ number: Int = 1) throws -> SignInRequirement {
    SignInRequirement(claims: try Claims(json: #"{"n\#(number)":1}"#), since: clock.now)
  }

  @Test func `needs of a route join, and are over after a day`() async throws {
    let memory = SignInRequirements(now: { [clock] in clock.now })
    memory.remember(try need(1), route: "r")
    memory.remember(try need(2), route: "r")
    #expect(await memory.requirement(of: "r")?.claims?.text == #"{"n1":1,"n2":1}"#)
    #expect(await memory.requirement(of: "s") == nil)
    clock.advance(SignInRequirement.lifetime)
    #expect(await memory.all().isEmpty)
  }

  @Test func `a route that is gone, or another person's, needs nothing any more, and the others do`() async throws {
    let bench = AccountBench()
    let memory = SignInRequirements(now: { [clock] in clock.now })
    memory.follow([
      "gone": try bench.subscription(), "others": try bench.subscription(account: "alice"),
      "stays": try bench.subscription(),
    ])
    for route in ["gone", "others", "stays"] { memory.remember(try need(), route: route) }
    memory.follow(["others": try bench.subscription(account: "bob"), "stays": try bench.subscription()])
    #expect(memory.known.keys.sorted() == ["stays"])
  }

  @Test func `a sign-in ends what it met, and nothing else`() async throws {
    let memory = SignInRequirements(now: { [clock] in clock.now })
    memory.remember(try need(1), route: "r")
    memory.remember(try need(2), route: "s")
    await memory.met(by: try need(1), routes: ["r", "s"])
    #expect(await memory.all().keys.sorted() == ["s"])
  }

  @Test func `a need ends with the token that anybody's sign-in leaves in the cache, msal's too`() async throws {
    let memory = try memory()
    let key = try AccountBench().subscription().key
    func value(_ source: TokenOrigin.Source, after seconds: Int64, _ token: String = "opaque") throws -> BearerValue {
      BearerValue(
        Secret(token),
        lifetime: TokenLifetime(expiresIn: 3600, refreshIn: nil, now: ManualClock.start + seconds, jitter: 0),
        scopes: try ScopeSet(["A"]), origin: TokenOrigin(source: source))
    }
    var refusal = try need()
    refusal.refused = SignInRequirement.mark(of: Secret("opaque"))
    memory.remember(refusal, route: "r")
    // An older token, and one that was renewed here without a person.
    memory.take(try value(.cache, after: -1, "older"), for: key)
    memory.take(try value(.cache, after: 0), for: key)
    memory.take(try value(.identityProvider, after: 5), for: key)
    #expect(await memory.requirement(of: "r") != nil)
    memory.take(try value(.cache, after: 0, "of the same second"), for: key)
    await changes.wait { await memory.requirement(of: "r") == nil }
    #expect(memory.known.isEmpty)
  }

  @Test func `another process finds the need, and when it is met the first one knows`() async throws {
    let first = try memory()
    let second = try memory()
    first.remember(try need(), route: "r")
    await changes.wait { await second.requirement(of: "r") != nil }
    #expect(await second.requirement(of: "r") == (try need()))
    await second.met(by: try need(), routes: ["r"])
    await changes.wait { await first.requirement(of: "r") == nil }
    var status = stat()
    #expect(stat(directory.file("cache.json.challenges"), &status) == 0)
    #expect(status.st_mode & 0o777 == 0o600)
  }

  @Test func `a need that is recorded and written while the file is read is not lost with what was read`() async throws
  {
    let slow = SlowText(text: text)
    let memory = try memory(in: slow)
    slow.readings.begins.signal()
    async let found = memory.requirement(of: "r")
    await slow.readings.arrived.wait(for: 1)
    memory.remember(try need(1), route: "r")
    await changes.wait(for: 1)
    // The end of the second writing shows that the first is known to have ended.
    memory.remember(try need(2), route: "s")
    await changes.wait(for: 2)
    slow.readings.ends.signal()
    #expect(await found == (try need(1)))
    #expect(await memory.all() == ["r": try need(1), "s": try need(2)])
  }

  @Test func `a need that is met while the file is read does not return with what was read`() async throws {
    let slow = SlowText(text: text)
    let memory = try memory(in: slow)
    memory.remember(try need(), route: "r")
    await changes.wait(for: 1)
    slow.readings.begins.signal()
    async let found = memory.requirement(of: "r")
    await slow.readings.arrived.wait(for: 1)
    await memory.met(by: try need(), routes: ["r"])
    slow.readings.ends.signal()
    #expect(await found == nil)
    #expect(await memory.all().isEmpty)
  }

  @Test func `a need that is recorded while an earlier one's end is written stays, without the earlier one`()
    async throws
  {
    let slow = SlowText(text: text)
    let memory = try memory(in: slow)
    let other = try self.memory()
    memory.remember(try need(1), route: "r")
    await changes.wait { await other.requirement(of: "r") != nil }
    slow.changes.begins.signal()
    async let end: Void = memory.met(by: try need(1), routes: ["r"])
    await slow.changes.arrived.wait(for: 1)
    #expect(await memory.requirement(of: "r") == nil)
    memory.remember(try need(2), route: "r")
    slow.changes.ends.signal()
    _ = try await end
    try await changes.wait { await other.requirement(of: "r") == (try need(2)) }
    #expect(await memory.requirement(of: "r") == (try need(2)))
  }

  @Test func `a need that another process adds while a sign-in ends one stays`() async throws {
    let slow = SlowText(text: text)
    let memory = try memory(in: slow)
    let other = try self.memory()
    memory.remember(try need(1), route: "r")
    await changes.wait { await other.requirement(of: "r") != nil }
    slow.changes.begins.signal()
    async let end: Void = memory.met(by: try need(1), routes: ["r"])
    await slow.changes.arrived.wait(for: 1)
    other.remember(try need(2), route: "r")
    let both = SignInRequirement(claims: try Claims(json: #"{"n1":1,"n2":1}"#), since: clock.now)
    let third = try self.memory()
    await changes.wait { await third.requirement(of: "r") == both }
    slow.changes.ends.signal()
    _ = try await end
    #expect(await memory.requirement(of: "r") == both)
    await memory.met(by: both, routes: ["r"])
    #expect(await memory.requirement(of: "r") == nil)
    await changes.wait { await other.requirement(of: "r") == nil }
  }

  @Test func `other accounts and applications have needs of their own`() async throws {
    let first = try memory()
    first.remember(try need(), route: "r")
    let same = try memory()
    await changes.wait { await same.requirement(of: "r") != nil }
    #expect(await (try memory(client: "other")).requirement(of: "r") == nil)
    #expect(await (try memory(account: "bob")).requirement(of: "r") == nil)
  }

  @Test(arguments: ["", "null", "{", #"{"needs":{"x":1}}"#, #"{"needs":[]}"#])
  func `a file that is something else is replaced with the next need`(text: String) async throws {
    let path = try directory.write(text, to: "cache.json.challenges")
    chmod(path, 0o600)
    let memory = try memory()
    #expect(await memory.all().isEmpty)
    memory.remember(try need(), route: "r")
    let other = try self.memory()
    await changes.wait { await other.requirement(of: "r") != nil }
  }

  @Test func `without a writable store the process itself remembers`() async throws {
    let memory = SignInRequirements(
      in: FileText(path: "/nowhere/at/all/cache.json.challenges"),
      subscriptions: ["r": try AccountBench().subscription()], now: { [clock] in clock.now })
    memory.remember(try need(), route: "r")
    #expect(await memory.requirement(of: "r") == (try need()))
  }

  @Test func `a file that must not be trusted is neither read nor the end of the memory`() async throws {
    let path = try directory.write(#"{"needs":{}}"#, to: "cache.json.challenges")
    chmod(path, 0o666)
    let memory = try memory()
    memory.remember(try need(), route: "r")
    await changes.wait(for: 1)
    #expect(await memory.requirement(of: "r") == (try need()))
    #expect(directory.read("cache.json.challenges") == #"{"needs":{}}"#)
  }

  /// A hostile upstream's challenge: as many claims as are read at all, each character of which takes two in a file.
  private func hostileClaims(_ number: Int) throws -> Claims {
    let start = #"{"n\#(number)":""#
    return try Claims(
      json: start + String(repeating: #"\""#, count: (Claims.limit - start.utf8.count - 2) / 2) + #""}"#)
  }

  @Test func `a route keeps one need, however many different things are asked for, and the last is in it`() async throws
  {
    let memory = SignInRequirements(now: { [clock] in clock.now })
    let much = String(repeating: "x", count: 500)
    for number in 0..<100 {
      memory.remember(
        SignInRequirement(
          claims: try Claims(json: #"{"n\#(number)":"\#(much)"}"#), scopes: try ScopeSet(["S\(number)"]),
          authenticationContexts: ["c\(number)"], since: clock.now), route: "r")
    }
    #expect(memory.known.count == 1)
    let need = try #require(memory.known["r"])
    #expect((need.claims?.text.utf8.count ?? 0) <= Claims.limit)
    #expect(need.claims?.text.contains(#""n99":"x"#) == true)
    #expect(need.scopes.words.count <= 64 && need.scopes.words.contains("S99"))
    #expect(need.authenticationContexts == ["c99"])
    // Two that do not fit together: the later one counts.
    memory.remember(SignInRequirement(claims: try hostileClaims(1), since: clock.now), route: "s")
    memory.remember(SignInRequirement(claims: try hostileClaims(2), since: clock.now), route: "s")
    #expect(memory.known["s"]?.claims == (try hostileClaims(2)))
  }

  @Test func `a flood of routes, accounts and claims leaves the newest of them in the file, which is read again`()
    async throws
  {
    let bench = AccountBench()
    let clock = clock
    var wishes: [String: TokenSubscription] = [:]
    for number in 0..<300 {
      wishes["r\(number)"] = try bench.subscription(account: "person\(number)")
    }
    let memory = SignInRequirements(in: text, subscriptions: wishes, now: { clock.now })
    for number in 0..<300 {
      clock.advance(1)
      memory.remember(SignInRequirement(claims: try hostileClaims(number), since: clock.now), route: "r\(number)")
    }
    let other = SignInRequirements(in: text, subscriptions: wishes, now: { clock.now })
    await changes.wait { directory.read("cache.json.challenges").contains(" r299\"") }
    let kept = await other.all()
    #expect((200...SharedRequirements.entryLimit).contains(kept.count), "\(kept.count)")
    #expect(directory.read("cache.json.challenges").utf8.count <= SharedRequirements.sizeLimit)
    #expect(Set(kept.keys) == Set((300 - kept.count..<300).map { "r\($0)" }))
    #expect(kept["r299"]?.claims == (try hostileClaims(299)))
  }
}
