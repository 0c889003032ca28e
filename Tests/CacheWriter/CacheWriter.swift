// A process that writes a shared cache through the store, for tests that need several of them. Not part of the product.
//
//   cache-writer refresh PATH PERSON COUNT     signs PERSON in (or goes on with the cache) and renews COUNT times;
//                                              prints each generation that is in the file
//   cache-writer add PATH PREFIX COUNT         signs COUNT people in, PREFIX-0 and so on
//   cache-writer measure PATH PREFIX COUNT     makes a cache of COUNT people with tokens of real length, and says how
//                                              long reading it, a look-up in it, a silent hit and one renewal take
//   cache-writer flight PATH KEY SCOPE         renews a token unless another process just did, under the refresh lock
//
// The environment variable KEYS may have the keys of an encrypted cache, as the bytes of which each consists: 2,1.

import Bytes
import FoundationEssentials
import Glibc
import HTTPClient
import Identity
import Platform
import TestSupport
import Tokens

@main
struct CacheWriter {
  static func main() async {
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard arguments.count == 4, let task = Task(rawValue: arguments[0]) else {
      say("usage: cache-writer refresh|add|flight|measure PATH NAME COUNT")
      exit(2)
    }
    let numbers = ProcessInfo.processInfo.environment["KEYS"]?.split(separator: ",").compactMap { UInt8($0) }
    let seal: CacheSeal
    do {
      seal = try CacheSeal((numbers ?? []).map { Secret([UInt8](repeating: $0, count: 32)) })
    } catch {
      say("failed \(error)")
      exit(1)
    }
    let store = await CacheStore.file(path: arguments[1], seal: seal, lockWait: .seconds(60)) { event in
      if case .failed(let error, _, _) = event { say("trouble \(error.description(path: arguments[1]))") }
    }
    let count = Int(arguments[3]) ?? 1
    do {
      switch task {
      case .refresh: try await refresh(SignedInPerson(arguments[2]), count, in: store)
      case .add: try await add(arguments[2], count, to: store)
      case .measure: try await measure(arguments[2], count, at: arguments[1], in: store)
      case .flight: try await fly(SignedInPerson(arguments[2]), to: count, in: store)
      }
      say("done")
    } catch {
      say("failed \(error)")
      exit(1)
    }
  }

  private enum Task: String {
    case refresh, add, flight, measure
  }

  private static var now: UnixTime { UnixTime.now }

  private static func refresh(_ person: SignedInPerson, _ count: Int, in store: CacheStore) async throws {
    var generation = person.generation(in: await store.snapshot()) ?? -1
    if generation < 0 {
      let first = try person.issued(generation: 0, now: now)
      try await store.modify { document in _ = document.add(first, now: now) }
      generation = 0
      say("0")
    }
    for _ in 0..<count {
      guard let held = await store.snapshot().refreshTokens(person.query).first else { throw Lost() }
      let next = try person.issued(generation: generation + 1, isSignIn: false, now: now)
      guard let token = next.reply.refreshToken else { throw Lost() }
      try await store.modify { document in
        document.add(next, now: now)
        document.rotate(held, to: token, obtainedAt: now)
      }
      generation += 1
      say("\(generation)")
    }
  }

  private struct Lost: Error {}

  private static func add(_ prefix: String, _ count: Int, to store: CacheStore) async throws {
    for index in 0..<count {
      let issued = try SignedInPerson("\(prefix)\(index)").issued(generation: 0, now: now)
      try await store.modify { document in _ = document.add(issued, now: now) }
    }
  }

  /// Renews once, unless the cache has the generation by now.
  private static func fly(_ person: SignedInPerson, to generation: Int, in store: CacheStore) async throws {
    let next = try person.issued(generation: generation, now: now)
    let error = await store.withRefreshLock(person.home) { () -> (any Error)? in
      if person.generation(in: await store.snapshot()) == generation { return nil }
      say("request")
      do {
        // As long as a token request takes.
        try await _Concurrency.Task.sleep(for: .milliseconds(300))
        try await store.modify { document in _ = document.add(next, now: now) }
        return nil
      } catch {
        return error
      }
    }
    if let error { throw error }
  }

  private static func measure(_ prefix: String, _ count: Int, at path: String, in store: CacheStore) async throws {
    // Entra's tokens have about as many bytes; an environment variable says otherwise.
    let padding = ProcessInfo.processInfo.environment["PADDING"].flatMap { Int($0) } ?? 1500
    let issued = try (0..<count).map {
      try SignedInPerson("\(prefix)\($0)").issued(generation: 0, padding: padding, now: now)
    }
    try await store.modify { document in for one in issued { document.add(one, now: now) } }
    let clock = ContinuousClock()
    for _ in 0..<5 {
      let (began, used) = (clock.now, processorTime)
      let other = await CacheStore.file(path: path) { _ in }
      say("read_ms \(milliseconds(clock.now - began))")
      say("read_processor_ms \(milliseconds(processorTime - used))")
      withExtendedLifetime(other) {}
    }
    // The memory of a process that read the file, not made it.
    let reader = await CacheStore.file(path: path) { _ in }
    let person = SignedInPerson("\(prefix)\(count / 2)")
    let scopes = try ScopeSet(["User.Read"])
    try await measure("look_up_ns", 100_000) {
      await reader.snapshot().accessToken(person.query, scopes: scopes, now: now) != nil
    }
    let subscription = try subscription(of: person, scopes)
    let realm = SignedInPerson.tenant
    try await measure("rights_ns", 100_000) {
      await reader.snapshot().lookup(for: subscription.key, realm: realm, now: now).accessToken != nil
    }
    let broker = TokenBroker(TokenBroker.Surroundings(now: { now }), store: reader)
    let value = try await broker.bearer(for: subscription)
    try await measure("broker_hit_ns", 100_000) { try await broker.bearer(for: subscription) === value }
    // A loop has the value in a slot, and compares it with its clock.
    let (slots, instant) = ([BearerValue?](repeating: value, count: 8), now)
    try await measure("loop_hit_ns", 10_000_000) {
      guard let value = slots[Int(instant.seconds & 7)] else { return false }
      return value.isUsable(at: instant) && !value.claimsRefresh(at: instant)
    }
    for generation in 1...5 {
      let next = try person.issued(generation: generation, isSignIn: false, padding: padding, now: now)
      let time = try await clock.measure { try await store.modify { document in _ = document.add(next, now: now) } }
      say("renewal_ms \(milliseconds(time))")
    }
    say("file_bytes \(try SharedFile(path: path).identity()?.size ?? 0)")
  }

  /// Says how much processor time one of many calls takes. All of them must find something. Among Swift's own threads,
  /// so that a hop to an actor is one and no change of threads.
  @concurrent
  private static func measure(
    _ name: String, _ count: Int, _ call: @Sendable () async throws -> Bool
  ) async throws {
    let began = processorTime
    for _ in 0..<count { guard try await call() else { throw Lost() } }
    let time = (processorTime - began).components
    say("\(name) \((time.seconds * 1_000_000_000 + time.attoseconds / 1_000_000_000) / Int64(count))")
  }

  private static func subscription(of person: SignedInPerson, _ scopes: ScopeSet) throws -> TokenSubscription {
    let application = Application(
      name: "measured", authority: try Authority("https://\(SignedInPerson.environment)/\(SignedInPerson.tenant)"),
      clientID: SignedInPerson.client, credential: nil
    ) { _ throws(FetchError) in
      throw .closed(host: "nobody is asked")
    }
    return TokenSubscription(application: application, subject: .account(person.home), scopes: scopes)
  }

  private static var processorTime: Duration {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  private static func milliseconds(_ time: Duration) -> Int64 {
    time.components.seconds * 1000 + time.components.attoseconds / 1_000_000_000_000_000
  }

  /// One write, so that a kill finds whole lines.
  private static func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(STDOUT_FILENO, bytes, bytes.count)
  }
}
