// The directories that a serving process may still write to, and the report of its confinement.

import Bytes
import Configuration
import Platform
import Telemetry

extension Settings {
  /// The directories in which `run` makes, replaces or removes files: the cache's, the admin listener's, and those of
  /// `madeFiles`.
  var writableDirectories: [String] {
    var files = madeFiles.map(\.path)
    if let cache = cache.path { files.append(cache) }
    if let admin, case .unix(let path) = admin.address.value.kind { files.append(path) }
    return Set(files.map(directory)).sorted()
  }

  /// Issues of the files that would be made in other directories than these, the only ones in which the process may
  /// still make some.
  func filesOutside(_ directories: Set<String>) -> [ConfigurationIssue] {
    madeFiles.filter { !directories.contains(directory(of: $0.path)) }.map { _, named in
      named.issue("\(named.value) needs a restart: the process has given up the right to make files there")
    }
  }

  /// The files that a reload may make elsewhere, each with its name in the configuration: the access log's, unix
  /// sockets of listeners, and token files.
  private var madeFiles: [(path: String, named: Located<String>)] {
    let files = [log.access ? log.accessFile : nil] + routes.map(\.tokenFile?.path)
    return files.compactMap(\.self).map { ($0.value, $0) }
      + listeners.map(\.address).compactMap { address in
        guard case .unix(let path) = address.value.kind else { return nil }
        return (path, Located("\(address.value)", place: address.place, key: address.key))
      }
  }

  /// The programs that `run` starts for applications.
  var programs: [String] { applications.compactMap { $0.assertionCommand?.program.value } }

  /// The programs that a process with these rights cannot run any more.
  func programsOutside(_ programs: Set<String>) -> [ConfigurationIssue] {
    applications.compactMap(\.assertionCommand).filter { !programs.contains($0.program.value) }.map {
      $0.program.issue("\($0.program.value) needs a restart: the process has given up the right to run it")
    }
  }

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

/// The system's directories of programs, interpreters and loaders. Only root writes there.
private let systemPrograms = ["/usr", "/bin", "/sbin", "/lib", "/lib64"]

/// The directories of permitted programs, for a process that runs these: the directory, because an update puts another
/// file in a program's place.
func runnable(_ programs: [String]) -> [String] {
  programs.isEmpty ? [] : programs + programs.map { directory(of: $0) } + systemPrograms
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
