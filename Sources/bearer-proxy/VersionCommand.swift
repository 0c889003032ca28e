// Owns `version`.

/// The version, for people or for programs. It needs no escaping: a version has digits, letters, dots and hyphens.
func versionText(_ form: OutputForm) -> String {
  switch form {
  case .text: "bearer-proxy \(programVersion)\n"
  case .json: "{\"name\":\"bearer-proxy\",\"version\":\"\(programVersion)\"}\n"
  }
}
