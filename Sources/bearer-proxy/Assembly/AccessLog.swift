// Owns where the access records of a configuration go: standard output, a file, or nowhere; and keeping the file
// through reloads.

import Configuration
import Platform

/// Where requests are recorded.
struct AccessLog {
  /// The file's path; nil where it is standard output.
  let path: String?
  /// What they are written to; nil: nowhere.
  let output: OutputFile?

  /// Opens the file that the settings name, unless `former` has it open.
  init(_ settings: LogSettings, succeeding former: AccessLog?) throws(ConfigurationError) {
    guard settings.access else {
      (path, output) = (nil, nil)
      return
    }
    guard let file = settings.accessFile else {
      (path, output) = (nil, .standardOutput)
      return
    }
    path = file.value
    if let former, former.path == file.value, let open = former.output {
      output = open
      return
    }
    do throws(SystemError) {
      output = try OutputFile(path: file.value)
    } catch {
      throw ConfigurationError([file.issue("cannot write access records to \(file.value): \(error.reason)")])
    }
  }
}

extension LogSettings {
  /// The access log's file, where it is in another directory than these.
  func filesOutside(_ directories: Set<String>) -> [ConfigurationIssue] {
    guard access, let file = accessFile, !directories.contains(directory(of: file.value)) else { return [] }
    return [file.issue("\(file.value) needs a restart: the process has given up the right to make files there")]
  }
}
