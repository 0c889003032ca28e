// Owns how a connection waits for a token: its caller's end is noticed meanwhile, and a slow provider keeps no connection from other
// callers. What goes on behind the callers is the TokenBroker's.

internal import HTTP
internal import HTTPClient
internal import Identity
internal import Network
internal import Telemetry
internal import Tokens

/// A question to the broker, asked by a task of its own.
struct TokenWait<Answer: Sendable>: Sendable {
  private let arrived = Locked<Result<Answer, AcquisitionError>?>(nil)

  /// Asks, and signals `waiter` when there is an answer. Call on its loop.
  init(
    _ scope: RequestScope?, on waiter: Waiter,
    _ ask: @escaping @Sendable () async throws(AcquisitionError) -> Answer
  ) {
    Task(executorPreference: waiter.loop) { [arrived] in
      let result: Result<Answer, AcquisitionError>
      do throws(AcquisitionError) {
        result = .success(try await RequestScope.around(scope, ask))
      } catch {
        result = .failure(error)
      }
      arrived.withLock { $0 = result }
      // Where the caller is gone, the connection does not wait here any more, and what it waits for now it asks for again.
      waiter.signal()
    }
  }

  /// The answer, once there is one.
  var result: Result<Answer, AcquisitionError>? { arrived.withLock { $0 } }
}

extension DownstreamConnection {
  /// How long a token is waited for before the connection makes room for others where connections run out.
  private static let courtesy = TimeSpan.seconds(1)

  /// The broker's answer.
  ///
  /// Where the caller is gone it is not waited for. A caller that has ended its direction may be one that only sent its request whole,
  /// or one that is gone: nothing tells them apart until something is sent. So it is waited for, and makes room for other connections
  /// where these run out, as does one that has waited for long.
  func outcome<Answer>(of wait: TokenWait<Answer>, key: AcquisitionKey) async throws(AcquisitionError) -> Answer {
    defer {
      makesRoom(false)
      waiter.forgetSignal()
    }
    let slow = state.loop.now + Self.courtesy
    while true {
      if let result = wait.result { return try result.get() }
      if stream.channel.isHungUp || mustEnd {
        throw .providerUnavailable(.unreached(.timedOut(host: key.authority.url.host)), retryAfter: 1)
      }
      let isCourteous = waitingSince != nil
      waiter.watch(stream.channel, isCourteous ? .hangUp : [.hangUp, .readClosed])
      switch await waiter.wait(until: isCourteous ? .distantFuture : slow) {
      case .ready, .timedOut: makesRoom(true)
      case .signalled: continue
      }
    }
  }
}
