// The version of the program, written here alone, and the output of `version`.

/// The version, by Semantic Versioning 2.0.
let programVersion = "0.2.0"

/// The commit that the program was built from; nil unless `deploy/release`, which writes it here, built it.
let programCommit: String? = nil

/// The version, for people or for programs. It needs no escaping: a version has digits, letters, dots and hyphens, and
/// a commit letters and digits.
func versionText(_ form: OutputForm, commit: String? = programCommit) -> String {
  switch form {
  case .text: return "bearer-proxy \(programVersion)\(commit.map { " (\($0.prefix(12)))" } ?? "")\n"
  case .json:
    let stamp = commit.map { ",\"commit\":\"\($0)\"" } ?? ""
    return "{\"name\":\"bearer-proxy\",\"version\":\"\(programVersion)\"\(stamp)}\n"
  }
}
