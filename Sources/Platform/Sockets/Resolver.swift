// Names to addresses: `getaddrinfo` on a Dispatch queue, answers kept for half a minute, concurrent requests share a
// look-up.

package import Bytes
internal import Dispatch
internal import Glibc

/// A name without an address, and the resolver's reason.
public struct ResolveError: Error, Sendable, Hashable {
  /// The host asked for.
  public var host: String
  /// Such as `Name or service not known`.
  public var reason: String
}

/// Resolves host names for all loops.
package final class Resolver: Sendable {
  private struct Answer {
    var addresses: [SocketAddress]
    var until: MonotonicTime
  }

  private typealias Waiting = CheckedContinuation<Result<[SocketAddress], ResolveError>, Never>

  private struct State {
    var answers: [String: Answer] = [:]
    var waiting: [String: [Waiting]] = [:]
  }

  private let state = Locked(State())
  private let queue = DispatchQueue(label: "bearer-proxy.resolver", attributes: .concurrent)
  private let lookUp: @Sendable (String) -> Result<[SocketAddress], ResolveError>

  package static let lifetime = TimeSpan.seconds(30)
  /// Further use of an old answer after a failed look-up: requests must not each wait for a resolver that is down.
  static let reprieve = TimeSpan.seconds(5)
  /// Maximum number of remembered names; beyond it, old answers go first.
  private static let capacity = 1024

  private let now: @Sendable () -> MonotonicTime

  /// A resolver; tests give it their own look-up, which returns addresses with port 0, and a clock.
  package init(
    lookUp: (@Sendable (String) -> Result<[SocketAddress], ResolveError>)? = nil,
    now: @escaping @Sendable () -> MonotonicTime = { .now }
  ) {
    self.lookUp = lookUp ?? { Self.systemLookUp($0) }
    self.now = now
  }

  /// The addresses of `host`, in the system's order of preference (RFC 6724). A literal is its own address.
  /// If a known name fails to resolve again, the old addresses are returned: a resolver that is down for a moment must
  /// not take down reachable upstreams.
  package func addresses(of host: String, port: UInt16) async throws(ResolveError) -> [SocketAddress] {
    if let known = known(host, port) { return known }
    let result = await withCheckedContinuation { (continuation: Waiting) in
      let now = now()
      let (isFirst, answer) = state.withLock { state -> (Bool, Answer?) in
        // A look-up may have ended since `known` was called.
        if let answer = state.answers[host], answer.until > now { return (false, answer) }
        state.waiting[host, default: []].append(continuation)
        return (state.waiting[host]?.count == 1, nil)
      }
      if let answer { continuation.resume(returning: .success(answer.addresses)) }
      if isFirst { queue.async { self.finish(host, self.lookUp(host)) } }
    }
    return try result.get().map { Self.address($0, port: port) }
  }

  /// As above, waiting at `waiter` until `deadline` at most: `nil` after that. The look-up continues for the next
  /// caller.
  package func addresses(
    of host: String, port: UInt16, waiter: Waiter, until deadline: MonotonicTime
  ) async throws(ResolveError) -> [SocketAddress]? {
    if let known = known(host, port) { return known }
    let answer = PendingAnswer(waiter.loop) { () -> Result<[SocketAddress], ResolveError> in
      do throws(ResolveError) {
        return .success(try await self.addresses(of: host, port: port))
      } catch {
        return .failure(error)
      }
    }
    var wake = Waiter.Wake.ready
    while answer.value == nil, wake != .timedOut {
      waiter.watch(answer, .read)
      wake = await waiter.wait(until: deadline)
    }
    return try answer.value?.get()
  }

  /// The addresses that need no look-up.
  private func known(_ host: String, _ port: UInt16) -> [SocketAddress]? {
    if let literal = SocketAddress(literal: host, port: port) { return [literal] }
    // Never asked of a server, which could divert plain requests (RFC 6761 §6.3); an image may have no /etc/hosts.
    if host == "localhost" || host.hasSuffix(".localhost") {
      return ["::1", "127.0.0.1"].compactMap { SocketAddress(literal: $0, port: port) }
    }
    let now = now()
    let known = state.withLock { state in
      state.answers[host].flatMap { $0.until > now ? $0.addresses : nil }
    }
    return known?.map { Self.address($0, port: port) }
  }

  private func finish(_ host: String, _ result: Result<[SocketAddress], ResolveError>) {
    let now = now()
    let (waiting, outcome) = state.withLock { state in
      let waiting = state.waiting.removeValue(forKey: host) ?? []
      if case .success(let addresses) = result {
        if state.answers.count >= Self.capacity { state.answers.removeAll() }
        state.answers[host] = Answer(addresses: addresses, until: now + Self.lifetime)
      } else if let old = state.answers[host] {
        state.answers[host]?.until = now + Self.reprieve
        return (waiting, Result<[SocketAddress], ResolveError>.success(old.addresses))
      }
      return (waiting, result)
    }
    for continuation in waiting { continuation.resume(returning: outcome) }
  }

  private static func address(_ address: SocketAddress, port: UInt16) -> SocketAddress {
    switch address.kind {
    case .ipv4(let bits, _): SocketAddress(.ipv4(bits, port: port))
    case .ipv6(let bytes, _, let zone): SocketAddress(.ipv6(bytes, port: port, zone: zone))
    case .unix: address
    }
  }

  private static func systemLookUp(_ host: String) -> Result<[SocketAddress], ResolveError> {
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_flags = AI_ADDRCONFIG
    var list: UnsafeMutablePointer<addrinfo>?
    var status = getaddrinfo(host, nil, &hints, &list)
    if status == EAI_ADDRFAMILY || status == EAI_NODATA || status == EAI_NONAME {
      // AI_ADDRCONFIG hides loopback-only addresses on a machine without a network.
      hints.ai_flags = 0
      status = getaddrinfo(host, nil, &hints, &list)
    }
    defer { if let list { freeaddrinfo(list) } }
    guard status == 0 else {
      return .failure(ResolveError(host: host, reason: String(cString: gai_strerror(status))))
    }
    var addresses: [SocketAddress] = []
    var next = list
    while let entry = next {
      let raw = UnsafeRawBufferPointer(start: entry.pointee.ai_addr, count: Int(entry.pointee.ai_addrlen))
      if let address = SocketAddress(raw), !addresses.contains(address) { addresses.append(address) }
      next = entry.pointee.ai_next
    }
    return addresses.isEmpty ? .failure(ResolveError(host: host, reason: "no usable address")) : .success(addresses)
  }
}

private let EAI_ADDRFAMILY: Int32 = -9
private let EAI_NODATA: Int32 = -5
