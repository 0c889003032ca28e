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

  /// How far a process has been confined.
  public enum Confinement: Sendable, Hashable {
    /// No privileges can be gained, no program run, and no file changed outside the given directories (Landlock, in this version).
    case full(landlock: Int)
    /// No privileges can be gained; the kernel has no Landlock, or has it switched off.
    case withoutLandlock
    /// The kernel refused.
    case none(SystemError)
  }

  /// Forbids core files, and other processes of the same user to read this one's memory.
  public static func forbidDumps() {
    // Where that is refused nothing is worse than before, and there is nobody to tell yet.
    _ = csystem_forbid_dumps()
  }

  /// Takes away from this process what it does not need. Call it before the first other thread is started: threads that are there
  /// are not confined.
  public static func confine(writableDirectories: [String]) -> Confinement {
    // The runtime's crash reporter is another program, which shows memory. Left without it, it waits for ever instead of ending.
    for number in [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGQUIT] { signal(number, SIG_DFL) }
    let paths = writableDirectories.map { strdup($0) }
    defer { for path in paths { free(path) } }
    let version = paths.map { UnsafePointer($0) }.withUnsafeBufferPointer {
      csystem_confine($0.baseAddress, Int32($0.count))
    }
    if version < 0 { return .none(SystemError("landlock_restrict_self")) }
    return version == 0 ? .withoutLandlock : .full(landlock: Int(version))
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
