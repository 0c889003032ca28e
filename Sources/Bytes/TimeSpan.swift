// Lengths of time on the request path: whole nanoseconds in one word. Settings use `Duration`, whose 128-bit arithmetic
// is too slow here.

/// A length of time, never negative, at most five centuries.
public struct TimeSpan: Sendable, Hashable, Comparable {
  /// Nanoseconds.
  public var nanoseconds: UInt64

  /// So many nanoseconds.
  public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

  /// A duration in whole nanoseconds; zero if it is negative, the maximum if it is longer than five centuries.
  public init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    guard seconds >= 0, attoseconds >= 0 else {
      nanoseconds = 0
      return
    }
    let (product, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    let sum = product.addingReportingOverflow(UInt64(attoseconds / 1_000_000_000))
    nanoseconds = overflow || sum.overflow ? .max : sum.partialValue
  }

  /// No time.
  public static let zero = TimeSpan(nanoseconds: 0)

  /// So many seconds.
  public static func seconds(_ count: UInt64) -> TimeSpan {
    TimeSpan(nanoseconds: count * 1_000_000_000)
  }

  /// So many milliseconds.
  public static func milliseconds(_ count: UInt64) -> TimeSpan {
    TimeSpan(nanoseconds: count * 1_000_000)
  }

  /// Orders by length.
  @inline(__always)
  public static func < (left: TimeSpan, right: TimeSpan) -> Bool {
    left.nanoseconds < right.nanoseconds
  }
}

extension Duration {
  /// The same length of time.
  public init(_ span: TimeSpan) {
    self = .seconds(Int64(span.nanoseconds / 1_000_000_000)) + .nanoseconds(Int64(span.nanoseconds % 1_000_000_000))
  }
}
