internal import Bytes
internal import CSystem
internal import Dispatch
internal import Glibc

/// The machine this process runs on.
package enum Machine {
  /// Processors this process may run on, at least 1.
  package static var processorCount: Int {
    max(1, Int(csystem_processor_count()))
  }

  /// The arguments of this process, its own name first. They need no /proc.
  package static var arguments: [String] {
    var count: Int32 = 0
    guard let words = csystem_arguments(&count), count > 0 else { return CommandLine.arguments }
    return (0..<Int(count)).compactMap { index in words[index].map { String(cString: $0) } }
  }

  /// Raises the limit of descriptors to the maximum: the usual soft limit, 1024, is for programs that call `select`,
  /// and is less than a proxy's connections need.
  package static func raiseDescriptorLimit() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    // If that is refused, the old limit stays, and accepting pauses when it is reached.
    _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }

  /// The degree of a process's confinement.
  package enum Confinement: Sendable, Hashable {
    /// It gains no privileges, runs no program but the given ones, and changes no file outside the given directories
    /// (Landlock, in this version).
    case full(landlock: Int)
    /// It gains no privileges; the kernel has no Landlock, or has it switched off.
    case withoutLandlock
    case none(SystemError)
  }

  /// Forbids core files, and other processes of the same user to read this one's memory.
  package static func forbidDumps() {
    // If that is refused, the state is as before, and there is no log yet.
    _ = csystem_forbid_dumps()
  }

  /// Gives up the rights that this process does not need. Call it before the first other thread is started: existing
  /// threads are not confined.
  /// - Parameter programs: programs that may still be run, and directories of them.
  package static func confine(writableDirectories: [String], programs: [String] = []) -> Confinement {
    // The runtime's crash reporter is another program, which shows memory. Without it, the runtime would wait for ever
    // instead of ending.
    for number in [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] { signal(number, SIG_DFL) }
    if !StartedProgram.takesSignals { signal(SIGQUIT, SIG_DFL) }
    let paths = writableDirectories.map { strdup($0) }
    let executables = programs.map { strdup($0) }
    defer { for path in paths + executables { free(path) } }
    let version = paths.map { UnsafePointer($0) }.withUnsafeBufferPointer { directories in
      executables.map { UnsafePointer($0) }.withUnsafeBufferPointer { programs in
        csystem_confine(
          directories.baseAddress, Int32(directories.count), programs.baseAddress, Int32(programs.count))
      }
    }
    if version < 0 { return .none(SystemError("landlock_restrict_self")) }
    return version == 0 ? .withoutLandlock : .full(landlock: Int(version))
  }

  /// A right of root's that a process may have by itself (capabilities(7)).
  package enum Capability: UInt64, Sendable, CaseIterable {
    /// Gives files to other users.
    case changeOwner = 0
    /// Reads and writes files whatever their mode is.
    case overrideModes = 1
    /// Reads files and searches directories whatever their mode is.
    case readAnything = 2
    /// Changes modes and times of other users' files, and replaces those in sticky directories.
    case actAsOwner = 3
    /// Listens at ports below 1024.
    case listenAtLowPorts = 10
  }

  /// Gives up every capability but these, for good. Call it before the first other thread is started.
  ///
  /// - Returns: true if any is left.
  package static func keepCapabilities(_ kept: Set<Capability>) throws(SystemError) -> Bool {
    let left = csystem_keep_capabilities(kept.reduce(0) { $0 | 1 << $1.rawValue })
    guard left >= 0 else { throw SystemError("capset") }
    return left != 0
  }

  package static var isRoot: Bool { geteuid() == 0 }

  /// Stops counting the program text that only the start needed as resident: two thirds of an idle proxy's memory. Call
  /// it once after the start; text still in use comes back from the page cache.
  package static func releaseTextPages() {
    csystem_release_text_pages()
  }

  private static let trimming = DispatchQueue(label: "bearer-proxy.trimming", qos: .utility)

  /// Gives free heap back to the system: after a burst the allocator would keep it for good. Returns at once; another
  /// thread does it.
  package static func trimHeap() {
    trimming.async { csystem_trim_heap() }
  }

  /// The resources that a process uses.
  package struct Resources: Sendable, Hashable {
    package var residentBytes: Int64
    package var openDescriptors: Int64
    package var descriptorLimit: Int64
    /// Processor time so far, in nanoseconds, by the process and by the kernel for it.
    package var processorTime: UInt64
  }

  /// The present use; 0 for values that the system does not report.
  package static var resources: Resources {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    let seconds = UInt64(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
    let microseconds = UInt64(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)
    return Resources(
      residentBytes: residentPages * Int64(sysconf(Int32(_SC_PAGESIZE))), openDescriptors: openDescriptors,
      descriptorLimit: Int64(clamping: limit.rlim_cur), processorTime: seconds * 1_000_000_000 + microseconds * 1000)
  }

  private static var residentPages: Int64 {
    do throws(FileError) {
      let words = try ReadableFile.contents(of: "/proc/self/statm", limit: 128).split(separator: ASCII.space)
      return words.count > 1 ? Int64(String(decoding: words[1], as: UTF8.self)) ?? 0 : 0
    } catch {
      return 0
    }
  }

  private static var openDescriptors: Int64 {
    guard let directory = opendir("/proc/self/fd") else { return 0 }
    defer { closedir(directory) }
    var count: Int64 = 0
    while readdir(directory) != nil { count += 1 }
    // Not the two dots, and not the descriptor of this listing.
    return max(count - 3, 0)
  }
}
