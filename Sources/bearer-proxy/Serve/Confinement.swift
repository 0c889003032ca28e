// The directories that a serving process may still write to, and the report of its confinement.

import Bytes
import Configuration
import Platform
import Telemetry

extension Settings {
  /// The directories in which `run` makes, replaces or removes files: the cache's, the access log's, and those of unix
  /// sockets and token files.
  var writableDirectories: [String] {
    var files: [String] = []
    if let cache = cache.path { files.append(cache) }
    if log.access, let file = log.accessFile { files.append(file.value) }
    for address in listeners.map(\.address.value) + (admin.map { [$0.address.value] } ?? []) {
      if case .unix(let path) = address.kind { files.append(path) }
    }
    files += routes.compactMap { $0.tokenFile?.path.value }
    return Set(files.map(directory)).sorted()
  }
}

/// The system's directories of programs, interpreters and loaders. Only root writes there.
private let systemPrograms = ["/usr", "/bin", "/sbin", "/lib", "/lib64"]

/// The directories of permitted programs, for a process that runs these: the directory, because an update puts another
/// file in a program's place.
func runnable(_ programs: [String]) -> [String] {
  programs.isEmpty ? [] : programs + programs.map { directory(of: $0) } + systemPrograms
}

extension Settings {
  /// The programs that `run` starts for applications.
  var programs: [String] { applications.compactMap { $0.assertionCommand?.program.value } }

  /// The programs that a process with these rights cannot run any more.
  func programsOutside(_ programs: Set<String>) -> [ConfigurationIssue] {
    applications.compactMap(\.assertionCommand).filter { !programs.contains($0.program.value) }.map {
      $0.program.issue("\($0.program.value) needs a restart: the process has given up the right to run it")
    }
  }
}

extension Settings {
  /// The capabilities that `run` keeps if it has them: those that open files and keep their owners, because root may
  /// work in a directory of another user, and the one for low ports if a listener has one. A user of its own needs none
  /// of the former.
  func neededCapabilities(isRoot: Bool) -> Set<Machine.Capability> {
    var needed: Set<Machine.Capability> = []
    if isRoot { needed = [.changeOwner, .overrideModes, .readAnything, .actAsOwner] }
    let addresses = listeners.map(\.address.value) + (admin.map { [$0.address.value] } ?? [])
    let hasLowPort = addresses.contains { (1..<1024).contains($0.port) }
    if hasLowPort { needed.insert(.listenAtLowPorts) }
    return needed
  }
}

func directory(of file: String) -> String {
  file.lastIndex(of: "/").map { String(file[...$0]) } ?? "."
}

extension Log {
  /// Warns of rights that no proxy needs.
  func warnOfRoot(isRoot: Bool, dropping failure: SystemError?) {
    if let failure { warning("capabilities not dropped", ["reason": .string(failure.description)]) }
    guard isRoot else { return }
    warning("running as root", ["advice": .string("give the proxy a user of its own")])
  }
}

extension Machine.Confinement {
  /// True if the process is kept from making files elsewhere.
  var isFull: Bool { if case .full = self { true } else { false } }

  /// Writes a record: an operator who reviews a deployment looks for it.
  func write(to log: Log) {
    switch self {
    case .full(let version): log.info("confined", ["landlock": .integer(version)])
    case .withoutLandlock: log.info("confined without Landlock, which this kernel does not offer")
    case .none(let error):
      log.warning("not confined", ["reason": .string(error.description), "next": .next(.confinement)])
    }
  }
}
