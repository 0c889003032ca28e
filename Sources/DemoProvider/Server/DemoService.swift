internal import Bytes
internal import HTTP
internal import HTTPServer
internal import Platform
internal import Tokens

/// Something that answers requests, and how it is called in the demonstration's log.
struct DemoService: Sendable {
  var name: String
  /// True if a body is to be digested as it arrives, so that it may be of any size. Others are kept, up to 64 KiB.
  var digestsBody: @Sendable (_ method: String, _ path: String) -> Bool = { _, _ in false }
  var answer: @Sendable (_ request: DemoRequest, _ now: UnixTime) -> DemoAnswer
}

/// One finished exchange, for the demonstration's log.
package struct DemoExchange: Sendable {
  /// `provider` or `api`.
  package var service: String
  package var method: String
  package var path: String
  package var status: Int
  /// A few words about it: never a token or a secret.
  package var note: String
}

/// A service behind a small server.
struct DemoHandler: RequestHandler {
  let service: DemoService
  let clock: @Sendable () -> UnixTime
  let log: @Sendable (DemoExchange) -> Void

  /// Bytes of a request's body that are kept at most.
  private static let bodyLimit = 64 * 1024

  func read(
    _ head: borrowing RequestHead, _ bytes: Span<UInt8>, from peer: ServerPeer
  ) -> RequestReading<DemoRequest> {
    let request = DemoRequest(head, bytes)
    let isDigested = service.digestsBody(request.method, request.path)
    return .accepted(request, isDigested ? .digested : .kept(limit: Self.bodyLimit))
  }

  func answer(_ request: DemoRequest, _ content: ReceivedContent) async -> ServerResponse {
    var request = request
    request.body = content
    let answer = service.answer(request, clock())
    log(
      DemoExchange(
        service: service.name, method: request.method, path: request.path, status: answer.status, note: answer.note))
    return answer.response
  }

  func refusal(_ status: Int) -> ServerResponse? {
    DemoAnswer(status: status, json: ["error": "the request cannot be read"]).response
  }
}

/// Serves one service on one address, on one loop, until it is stopped.
struct DemoServer: Sendable {
  private let server: SmallServer<DemoHandler>
  private let serving: Task<Void, Never>

  /// Starts to serve; `socket` is taken over.
  init(
    _ service: DemoService, _ socket: BoundSocket, tls: TLSContext?, loop: EventLoop,
    clock: @escaping @Sendable () -> UnixTime, log: @escaping @Sendable (DemoExchange) -> Void
  ) {
    var limits = ServerLimits()
    limits.patience = .seconds(60)
    let server = SmallServer(
      DemoHandler(service: service, clock: clock, log: log), loop: loop, limits: limits, tls: tls,
      clock: { clock().seconds })
    self.server = server
    serving = Task(executorPreference: loop) {
      defer { socket.close() }
      let listener: Listener
      do throws(SystemError) {
        listener = try Listener(socket, loop: loop)
      } catch {
        log(DemoExchange(service: service.name, method: "listen", path: "", status: 0, note: error.description))
        return
      }
      _ = await server.serve(listener)
    }
  }

  /// Closes every connection and stops listening.
  func stop() async {
    server.stop()
    await serving.value
  }
}
