/// The work that one connection causes before the others of its loop get a turn. A peer decides how many frames its
/// bytes are, so both are counted.
package struct TurnAllowance {
  private var bytes = 256 * 1024
  private var frames = 512

  package init() {}

  /// True if the others come first.
  package var isSpent: Bool { bytes <= 0 || frames <= 0 }

  /// Counts what one look at the socket brought.
  package mutating func spend(bytes: Int, frames: Int) {
    self.bytes -= bytes
    self.frames -= frames
  }
}
