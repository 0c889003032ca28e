// Owns what is asked of the machine itself.

internal import CSystem

/// The machine this process runs on.
public enum Machine {
  /// Processors this process may run on, at least 1.
  public static var processorCount: Int {
    max(1, Int(csystem_processor_count()))
  }
}
