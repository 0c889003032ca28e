internal import Glibc
package import Telemetry

/// A system call that failed, and the kernel's reason.
public struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The call's name.
  public var call: StaticString
  /// The error number.
  public var number: Int32

  /// The present `errno`, unless a number is given.
  public init(_ call: StaticString, _ number: Int32? = nil) {
    self.call = call
    self.number = number ?? Glibc.errno
  }

  /// The kernel's words for the number, such as `Address already in use`.
  public var reason: String {
    // The longest message of glibc has 50 characters.
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
      guard let start = buffer.baseAddress, strerror_r(number, start, buffer.count) == 0 else {
        return "error \(number)"
      }
      return String(cString: start)
    }
  }

  /// True if the process or the machine has no descriptor left (EMFILE, ENFILE).
  public var isExhaustion: Bool { number == EMFILE || number == ENFILE }

  /// True if a file system is full, or a user's part of it (ENOSPC, EDQUOT).
  public var isOutOfSpace: Bool { number == ENOSPC || number == EDQUOT }

  /// The operator's next step, if the error is about the whole process.
  package var cure: Cure { isExhaustion ? .openFiles : .restartAfterFailure }

  /// True if the address may be available later: another process holds it, or no interface has it yet, as while a
  /// machine starts.
  public var isPassingForAddress: Bool { number == EADDRINUSE || number == EADDRNOTAVAIL || isExhaustion }

  /// The call and the reason.
  public var description: String { "\(call): \(reason)" }

  /// Compares numbers: the call's name is for people.
  public static func == (left: SystemError, right: SystemError) -> Bool { left.number == right.number }

  /// Hashes the number.
  public func hash(into hasher: inout Hasher) { hasher.combine(number) }
}
