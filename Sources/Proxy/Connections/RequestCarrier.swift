internal import Platform

/// The carrier of a request: a connection of HTTP/1.1, or a stream of an HTTP/2 connection. Confined to its loop.
class RequestCarrier {
  final let stream: ByteStream
  final let waiter: Waiter
  /// The upstream connections that this caller has authenticated.
  final var boundUpstreams = BoundUpstreams()
  /// True if both sides have switched to another protocol.
  final private(set) var isTunnel = false

  init(_ stream: ByteStream, _ waiter: Waiter) {
    self.stream = stream
    self.waiter = waiter
  }

  /// Records that both sides have switched to another protocol.
  func becomesTunnel() { isTunnel = true }

  /// True if the present request is the last that is answered here.
  var isEnding: Bool { preconditionFailure("every carrier has its own answer") }
  /// True if the connection takes no further requests, so that nothing is waited for that may take long.
  var isLeaving: Bool { isEnding }
  /// Records that the request is an engine's stream, which goes on for as long as the engine likes, and which that may
  /// reset at any time.
  func awaitsEngine() {}
  /// True if the request is answered only if it waits for nothing more.
  var mustEnd: Bool { preconditionFailure("every carrier has its own answer") }
  /// True if the process ends the exchange in progress.
  var isCutOff: Bool { preconditionFailure("every carrier has its own answer") }
  /// True if the carrier ends if connections run out.
  var makesRoom: Bool {
    get { preconditionFailure("every carrier has its own answer") }
    set { preconditionFailure("every carrier has its own answer") }
  }
  /// Ends the request so that the caller repeats it with HTTP/1.1.
  func demandHTTP11() { preconditionFailure("only a stream can do that") }

  /// The socket of the caller.
  var connectionChannel: Channel { stream.channel }

  /// Releases the descriptor of another connection. False: none can be spared now.
  func giveUpDescriptor() async -> Bool { preconditionFailure("every carrier has its own answer") }
}
