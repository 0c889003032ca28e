import Bytes
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Platform

@Suite(.timeLimit(.minutes(5)))
struct ResolverTests {
  /// A look-up that a test scripts, and a clock that it sets.
  private final class Script: Sendable {
    let lookUps = Atomic(0)
    let time = Atomic<UInt64>(1_000_000_000)
    let isDown = Atomic(false)
    /// If closed, look-ups wait at it.
    let gate: Gate?

    init(gate: Gate? = nil) { self.gate = gate }

    func resolver() -> Resolver {
      Resolver(
        lookUp: { host in
          self.lookUps.add(1, ordering: .relaxed)
          self.gate?.wait()
          if self.isDown.load(ordering: .relaxed) {
            return .failure(ResolveError(host: host, reason: "Temporary failure in name resolution"))
          }
          return .success([SocketAddress(.ipv4(0xC000_0201, port: 0))])
        }, now: { MonotonicTime(nanoseconds: self.time.load(ordering: .relaxed)) })
    }

    var count: Int { lookUps.load(ordering: .relaxed) }

    func pass(_ seconds: UInt64) {
      time.add(seconds * 1_000_000_000, ordering: .relaxed)
    }
  }

  private static let address = SocketAddress(.ipv4(0xC000_0201, port: 443))

  @Test func `a literal is its own address and is not looked up`() async throws {
    let script = Script()
    let addresses = try await script.resolver().addresses(of: "2001:db8::1", port: 443)
    #expect(addresses == [SocketAddress(literal: "2001:db8::1", port: 443)])
    #expect(script.count == 0)
  }

  @Test func `an answer is used for half a minute, for every port`() async throws {
    let script = Script()
    let resolver = script.resolver()
    #expect(try await resolver.addresses(of: "a.example", port: 443) == [Self.address])
    script.pass(29)
    #expect(try await resolver.addresses(of: "a.example", port: 80).first?.port == 80)
    #expect(script.count == 1)
    script.pass(1)
    #expect(try await resolver.addresses(of: "a.example", port: 443) == [Self.address])
    #expect(script.count == 2)
    _ = try await resolver.addresses(of: "b.example", port: 443)
    #expect(script.count == 3)
  }

  @Test func `any number of tasks that ask at once share one look-up`() async throws {
    let (gate, asking) = (Gate(), Tally())
    let script = Script(gate: gate)
    let resolver = script.resolver()
    try await withThrowingTaskGroup { group in
      for _ in 0..<50 {
        group.addTask {
          asking.signal()
          return try await resolver.addresses(of: "a.example", port: 443)
        }
      }
      await asking.wait(for: 50)
      gate.open()
      for try await addresses in group { #expect(addresses == [Self.address]) }
    }
    #expect(script.count == 1)
  }

  @Test func `while the resolver is down old addresses serve, and not every request waits for it`() async throws {
    let script = Script()
    let resolver = script.resolver()
    _ = try await resolver.addresses(of: "a.example", port: 443)
    script.pass(31)
    script.isDown.store(true, ordering: .relaxed)
    for _ in 0..<3 { #expect(try await resolver.addresses(of: "a.example", port: 443) == [Self.address]) }
    #expect(script.count == 2)
    script.pass(5)
    #expect(try await resolver.addresses(of: "a.example", port: 443) == [Self.address])
    #expect(script.count == 3)
  }

  @Test func `a failure is not remembered`() async throws {
    let script = Script()
    let resolver = script.resolver()
    script.isDown.store(true, ordering: .relaxed)
    await #expect(throws: ResolveError(host: "a.example", reason: "Temporary failure in name resolution")) {
      try await resolver.addresses(of: "a.example", port: 443)
    }
    script.isDown.store(false, ordering: .relaxed)
    #expect(try await resolver.addresses(of: "a.example", port: 443) == [Self.address])
  }

  @Test func `a task waits no longer than until its deadline, signalled or not, and the look-up goes on`() async throws
  {
    let gate = Gate()
    let script = Script(gate: gate)
    let resolver = script.resolver()
    try await onLoop { loop in
      let waiter = Waiter(loop)
      waiter.signal()
      let late = try await resolver.addresses(
        of: "a.example", port: 443, waiter: waiter, until: .now + .milliseconds(30))
      #expect(late == nil)
      gate.open()
      let answer = try await resolver.addresses(of: "a.example", port: 443, waiter: waiter, until: .now + .seconds(5))
      #expect(answer == [Self.address])
      #expect(script.count == 1)
      // An answer without waiters wakes no task.
      #expect(await waiter.wait(until: .now + .milliseconds(30)) == .timedOut)
      waiter.close()
    }
  }

  @Test(arguments: ["localhost", "app.localhost"])
  func `this machine's own name is never looked up`(name: String) async throws {
    let resolver = Resolver(lookUp: { host in .failure(ResolveError(host: host, reason: "a server was asked")) })
    let addresses = try await resolver.addresses(of: name, port: 7)
    #expect(addresses == [SocketAddress(literal: "::1", port: 7), SocketAddress(literal: "127.0.0.1", port: 7)])
    await #expect(throws: ResolveError.self) { try await resolver.addresses(of: "notlocalhost", port: 7) }
  }

  @Test func `the system's resolver knows names, and says why it does not know others`() async throws {
    // A spelling of 127.0.0.1 that only the system's resolver reads: it is on every machine, without /etc/hosts.
    let addresses = try await Resolver().addresses(of: "127.1", port: 7)
    #expect(addresses == [SocketAddress(literal: "127.0.0.1", port: 7)])
    await #expect(throws: ResolveError.self) { try await Resolver().addresses(of: "no such host", port: 7) }
  }
}
