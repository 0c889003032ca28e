// One child process: spawned without a shell, its output in files, killed when the test lets go of it.

import FoundationEssentials
package import Glibc
import Platform

/// The children that run. Those that a test still holds when all tests are over are killed then, before their
/// directories are removed: handlers run in the reverse order of their registration.
private enum Children {
  static let running = Locked<Set<pid_t>>([])
  private static let killAtExit: Void = {
    atexit {
      let children = Children.running.withLock { $0 }
      for child in children { kill(child, SIGKILL) }
      for child in children { waitpid(child, nil, 0) }
    }
  }()

  static func add(_ child: pid_t) {
    _ = killAtExit
    running.withLock { _ = $0.insert(child) }
  }

  static func remove(_ child: pid_t) { running.withLock { _ = $0.remove(child) } }
}

/// A running program. Its standard output and standard error go to files, so that it never blocks on a full pipe.
package final class ChildProcess: Sendable {
  package let name: String
  private let program: StartedProgram
  /// With the files of its output.
  private let directory: TemporaryDirectory
  package var identifier: pid_t { program.identifier }

  /// Starts `arguments` (the first is the program, looked up in PATH), with its output in NAME.out and NAME.err of
  /// `directory`, or of one of its own, its input from the file `input`, and `environment` over our own.
  package init(
    _ name: String, _ arguments: [String], in directory: TemporaryDirectory? = nil, environment: [String: String] = [:],
    input: String? = nil
  ) throws {
    self.name = name
    let directory = try directory ?? TemporaryDirectory()
    self.directory = directory
    var variables = ProcessInfo.processInfo.environment
    variables["PATH", default: "/usr/bin:/bin"] += ":/usr/sbin:/sbin"
    variables.merge(environment) { $1 }
    // Appended: a peer that is started again keeps what it said before.
    let outputs = ["out", "err"].map {
      open(directory.file("\(name).\($0)"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
    }
    defer { for output in outputs { close(output) } }
    let redirection = input.map { ["/bin/sh", "-c", #"exec "$@" < "$0""#, $0] } ?? []
    program = try StartedProgram(
      redirection + arguments, environment: variables.map { "\($0)=\($1)" }, outputs: outputs)
    Children.add(program.identifier)
  }

  deinit {
    if poll() == nil {
      kill(identifier, SIGKILL)
      waitpid(identifier, nil, 0)
      Children.remove(identifier)
    }
  }

  /// Everything it wrote to standard output so far.
  package var output: String { directory.read("\(name).out") }

  /// Everything it wrote to standard error so far.
  package var errors: String { directory.read("\(name).err") }

  /// Its exit status once it has ended (128 plus the signal that ended it, as a shell says it), else nil.
  package func poll() -> Int32? {
    guard let end = program.end else { return nil }
    Children.remove(identifier)
    return end.status
  }

  /// Sends `signal` unless it has ended.
  package func send(_ signal: Int32) { if poll() == nil { program.send(signal) } }

  /// Stops it until SIGCONT. When this returns none of its threads runs any more: each of them takes the
  /// signal when it gets a processor, and goes on until then.
  package func standStill() async throws {
    send(SIGSTOP)
    let isStopped = try await eventually {
      var state = siginfo_t()
      // Says it of the process as a whole, and once.
      guard waitid(P_PID, id_t(self.identifier), &state, WSTOPPED | WNOHANG) == 0 else { return false }
      return state.si_code == CLD_STOPPED
    }
    if !isStopped { throw TestSupportError("\(name) does not stop") }
  }

  /// Waits for its end and returns the exit status; throws when it still runs after `limit`.
  package func wait(within limit: Duration = .seconds(30)) async throws -> Int32 {
    guard try await eventually(within: limit, { self.poll() != nil }), let status = poll() else {
      throw TestSupportError("\(name) still runs after \(limit)")
    }
    return status
  }

  /// Asks it to end, as a service manager does, and returns the exit status; throws if it still runs after `limit`.
  package func end(within limit: Duration = .seconds(30)) async throws -> Int32 {
    send(SIGTERM)
    return try await wait(within: limit)
  }

  /// Ends it, politely first.
  package func stop() async throws {
    send(SIGTERM)
    if try await !eventually(within: .seconds(5), { self.poll() != nil }) { send(SIGKILL) }
    _ = try await wait()
  }

  /// The largest factor of a program's memory under a sanitizer, which keeps notes about each
  /// word or holds back what was freed. The programs are built as the tests are.
  package static let memoryFactor = dlsym(nil, "__asan_init") == nil && dlsym(nil, "__tsan_init") == nil ? 1 : 5

  /// Bytes of its memory that are resident, from /proc.
  package var residentBytes: Int {
    for line in textOfFile("/proc/\(identifier)/status").split(separator: "\n") where line.hasPrefix("VmRSS:") {
      return (line.split(separator: " ").compactMap { Int($0) }.first ?? 0) * 1024
    }
    return 0
  }

  /// The targets of its open descriptors, from /proc.
  package var openDescriptors: [String] {
    guard let directory = opendir("/proc/\(identifier)/fd") else { return [] }
    defer { closedir(directory) }
    var found: [String] = []
    var target = [CChar](repeating: 0, count: Int(PATH_MAX))
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      let length = readlinkat(dirfd(directory), name, &target, target.count)
      // "." and ".." are no links.
      guard length > 0 else { continue }
      found.append(String(decoding: target.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }
    return found.sorted()
  }

  /// The nice values of its threads, but for the first: that one ends when the proxy serves.
  package var priorities: [Int] {
    // Field 19, counted as below.
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(identifier)/task")) ?? []
    return threads.filter { $0 != "\(identifier)" }.compactMap { thread in
      let stat = textOfFile("/proc/\(identifier)/task/\(thread)/stat").split(separator: ")").last
      return stat?.split(separator: " ").dropFirst(16).first.flatMap { Int($0) }
    }
  }

  /// Processor time it has used, user and system, in steps of 10 ms, from /proc.
  package var processorTime: Duration {
    // The name may contain spaces. Behind it are the state and then fields 4 and on (proc(5)).
    let fields = textOfFile("/proc/\(identifier)/stat").split(separator: ")").last?.split(separator: " ") ?? []
    guard fields.count > 12, let user = Int(fields[11]), let system = Int(fields[12]) else { return .zero }
    return .milliseconds((user + system) * 10)
  }
}
