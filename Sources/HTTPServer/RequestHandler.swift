package import Bytes
package import HTTP
package import Platform

/// The handling of a server's requests: one function reads a head, another answers the request when it is whole.
package protocol RequestHandler: Sendable {
  /// A request in the handler's form.
  associatedtype Request: Sendable

  /// Reads a head while its bytes are at hand.
  func read(_ head: borrowing RequestHead, _ bytes: Span<UInt8>, from peer: ServerPeer) -> RequestReading<Request>

  func answer(_ request: Request, _ content: ReceivedContent) async -> ServerResponse

  /// The answer to a request that cannot be read; nil closes the connection without one.
  func refusal(_ status: Int) -> ServerResponse?
}

/// A handler's result for a head.
package enum RequestReading<Request: Sendable>: Sendable {
  /// Answered without its content; the connection is closed then.
  case refused(ServerResponse)
  /// Answered when it is whole.
  case accepted(Request, ContentRule)
}

package enum ContentRule: Sendable, Hashable {
  /// It is not read: a request that has some is answered, and its connection closed.
  case unread
  /// It is kept, up to so many bytes; more is refused with 413.
  case kept(limit: Int)
  /// It is digested as it arrives, and may be of any size.
  case digested
}

package enum ReceivedContent: Sendable, Hashable {
  /// Everything, because it is small.
  case whole([UInt8])
  /// Only its size and SHA-256, because it may be large.
  case digest(byteCount: UInt64, sha256: [UInt8])

  /// The bytes, if they were kept.
  package var bytes: [UInt8] { if case .whole(let bytes) = self { bytes } else { [] } }
}

/// The other end of a connection.
package struct ServerPeer: Sendable {
  package let address: SocketAddress
  /// A unix socket's peer.
  package let credentials: PeerCredentials?
}
