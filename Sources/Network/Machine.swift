// Owns what is asked of the machine itself.

internal import CSystem
internal import Glibc

/// The machine this process runs on.
public enum Machine {
  /// Processors this process may run on, at least 1.
  public static var processorCount: Int {
    max(1, Int(csystem_processor_count()))
  }

  /// Takes as many descriptors as this process may have: the usual soft limit, 1024, is made for programs that call
  /// `select`, and is less than a proxy's connections need.
  public static func raiseDescriptorLimit() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    // Where that is refused the old limit stays, and accepting rests when it is reached.
    _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }

  /// Stops counting the program text that only the start needed as resident: two thirds of what an idle proxy would
  /// hold. Call it once, when the start is over; what is still in use comes back from the page cache.
  public static func releaseTextPages() {
    csystem_release_text_pages()
  }

  /// Gives free heap back to the system: after a burst the allocator would keep it for good. Takes a millisecond or so.
  public static func trimHeap() {
    csystem_trim_heap()
  }
}
