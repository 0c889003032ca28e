package import Platform

/// The time and the chance of a store; a simulation brings its own.
package struct StoreSurroundings: Sendable {
  /// Returns when the time is over or the task is cancelled.
  package typealias Pause = @Sendable (Duration) async -> Void

  package var now: @Sendable () -> MonotonicTime = { .now }
  package var sleep: Pause = StoreSurroundings.sleep
  /// Draws 64 bits.
  package var random: @Sendable () -> UInt64 = { UInt64.random(in: 0 ... .max) }

  package init() {}

  /// The pause of a real store. If it is cancelled, its caller checks its own task next.
  package static let sleep: Pause = { pause in do { try await Task.sleep(for: pause) } catch {} }

  /// Draws 0 up to 1.
  func fraction() -> Double { Double(random() >> 11) * 0x1p-53 }

  func duration(since began: MonotonicTime) -> Duration { Duration(now() - began) }
}
