extension String {
  /// The text as one word of a shell's line.
  package var shellWord: String {
    let isPlain = utf8.allSatisfy { ASCII.isAlphanumeric($0) || "-._/:@=,+%".utf8.contains($0) }
    return isPlain && !isEmpty ? self : "'\(replacing("'", with: "'\\''"))'"
  }
}
