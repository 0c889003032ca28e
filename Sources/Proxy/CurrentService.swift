// Owns which generation of the configuration is in force, for those who are on no loop.

internal import Network
internal import Synchronization

/// The service in force. It is replaced as a whole.
public final class CurrentService: Sendable {
  private let stored: Locked<Service>

  /// Begins with this one.
  public init(_ service: Service) {
    stored = Locked(service)
  }

  /// The service in force now.
  public internal(set) var value: Service {
    get { stored.withLock { $0 } }
    set { stored.withLock { $0 = newValue } }
  }
}

/// How many downstream connections the process has: one number for all generations.
public final class ConnectionCount: Sendable {
  private let open = Atomic(0)

  /// None yet.
  public init() {}

  /// Connections open now.
  public var value: Int { open.load(ordering: .relaxed) }

  func opened() { open.add(1, ordering: .relaxed) }
  func closed() { open.subtract(1, ordering: .relaxed) }
}
