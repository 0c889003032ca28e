internal import Bytes
internal import HTTP
internal import HTTPServer
internal import Platform

/// Reads a browser's requests on loopback, and refuses other hosts. `LoopbackRule` judges the rest.
struct LoopbackHandler: RequestHandler {
  let address: SocketAddress
  /// The users whose connections are accepted; nil is every user.
  let users: Set<UInt32>?
  let judge: @Sendable (LoopbackRequest) async -> LoopbackPage

  /// The listener on 127.0.0.1 to which a browser brings a sign-in's answer.
  /// - Parameter port: nil lets the kernel choose.
  static func listener(on loop: EventLoop, port: UInt16?) throws(SignInError) -> Listener {
    do throws(SystemError) {
      let socket = try BoundSocket.bind(SocketAddress(.ipv4(0x7F00_0001, port: port ?? 0)), count: 1)[0]
      defer { socket.close() }
      return try Listener(socket, loop: loop)
    } catch {
      throw .listener(error, port: port)
    }
  }

  /// A browser opens a few connections, some of which it never uses.
  static var limits: ServerLimits {
    var limits = ServerLimits()
    limits.head = HeadLimits(headBytes: 32 * 1024, fieldCount: 100, targetBytes: 16 * 1024)
    limits.connections = 16
    limits.keepsConnections = false
    return limits
  }

  /// Maximum bytes of a posted answer.
  private static let formLimit = 64 * 1024

  func read(
    _ head: borrowing RequestHead, _ bytes: Span<UInt8>, from peer: ServerPeer
  ) -> RequestReading<LoopbackRequest> {
    let reading = read(head, bytes)
    if case .accepted = reading, !isAllowed(peer.address) { return .refused(LoopbackPage.otherUser.response) }
    return reading
  }

  /// Pages of other sites reach this listener, too: by the name in `Host` if theirs resolves to loopback.
  private func read(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> RequestReading<LoopbackRequest> {
    let authority = bytes.extracting(head.authority)
    guard let host = HostName(authority), host.port == address.port,
      host.names(Array("localhost".utf8), in: authority) || host.names(Array("127.0.0.1".utf8), in: authority)
    else { return .refused(LoopbackPage.foreign.response) }
    let path = bytes.extracting(head.target.path).text
    let query = bytes.extracting(head.target.query).array
    var request = LoopbackRequest(method: .get, path: path.isEmpty ? "/" : path, form: query)
    request.isAhead =
      head.fields.first(named: Array("sec-purpose".utf8), in: bytes) != nil
      || head.fields.first(named: Array("purpose".utf8), in: bytes) != nil
    if let site = head.fields.first(named: Array("sec-fetch-site".utf8), in: bytes) {
      request.isFromOtherPage = bytes.extracting(site.value).text != "same-origin"
    }
    switch head.method {
    case .get: return .accepted(request, .unread)
    case .post:
      request.method = .post
      if let refusal = Self.refusal(ofForm: head, bytes) { return .refused(refusal.response) }
      return .accepted(request, .kept(limit: Self.formLimit))
    default: return .refused(LoopbackPage.method.response)
    }
  }

  private static func refusal(ofForm head: borrowing RequestHead, _ bytes: Span<UInt8>) -> LoopbackPage? {
    let type = head.fields.first(.contentType).map { bytes.extracting($0.value).text } ?? ""
    let media = type.prefix { $0 != ";" }.lowercased().filter { $0 != " " }
    guard media == "application/x-www-form-urlencoded" else { return .nothingHere }
    do throws(FramingError) {
      guard case .fixed(let count) = try BodyFraming.request(head, bytes), count <= UInt64(formLimit) else {
        return .tooLarge
      }
      return nil
    } catch {
      return .nothingHere
    }
  }

  func answer(_ request: LoopbackRequest, _ content: ReceivedContent) async -> ServerResponse {
    var request = request
    if request.method == .post { request.form = content.bytes }
    return await judge(request).response
  }

  func refusal(_ status: Int) -> ServerResponse? { LoopbackPage.nothingHere.response }

  /// True if an accepted user made a connection. If the kernel does not tell, all are accepted.
  private func isAllowed(_ peer: SocketAddress) -> Bool {
    guard let users else { return true }
    switch LoopbackPeer(of: peer, to: address) {
    case .user(let user): return users.contains(user)
    case .unlisted: return false
    case .unknown: return true
    }
  }
}
