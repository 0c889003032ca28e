import Identity
import Platform
import Proxy
import Tokens

/// The way of new tokens from the broker, which is there first, to the server's loops and to token files.
final class Publications: Sendable {
  private let files = Locked<TokenFiles?>(nil)

  func attach(_ files: TokenFiles) { self.files.withLock { $0 = files } }

  private let server = Locked<ProxyServer?>(nil)

  func attach(_ server: ProxyServer) { self.server.withLock { $0 = server } }

  func publish(_ value: BearerValue?, _ key: AcquisitionKey) {
    server.withLock { $0 }?.publish(value, for: key)
    files.withLock { $0 }?.publish(value, for: key)
  }
}
