internal import CSystem

/// A descriptor's readiness, or the interest of a waiting task.
public struct Readiness: OptionSet, Sendable {
  /// The bits.
  public let rawValue: UInt8

  /// A set from its bits.
  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// Bytes, an end of stream or an error can be received.
  public static let read = Readiness(rawValue: 1)
  /// Bytes can be sent, or sending fails at once.
  public static let write = Readiness(rawValue: 2)
  /// The peer has ended its direction; what it sent before may still be unread.
  public static let readClosed = Readiness(rawValue: 4)
  /// Both directions are over: reset, or closed by both sides.
  public static let hangUp = Readiness(rawValue: 8)

  /// Translates an epoll event. Errors and hang-ups also count as readable and writable, so that a task that waits for
  /// either gets them from the system call.
  init(epollEvents events: UInt32) {
    var readiness: Readiness = []
    if events & CSYSTEM_IN != 0 { readiness.insert(.read) }
    if events & CSYSTEM_OUT != 0 { readiness.insert(.write) }
    if events & CSYSTEM_RDHUP != 0 { readiness.formUnion([.read, .readClosed]) }
    if events & (CSYSTEM_HUP | CSYSTEM_ERR) != 0 {
      readiness.formUnion([.read, .write, .readClosed, .hangUp])
    }
    self = readiness
  }
}
