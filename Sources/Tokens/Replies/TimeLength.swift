// Owns how lengths of time are said to people, so that every command and page says one lifetime in the same words.

/// A length of time in one unit: `45 s`, `12 min`, `3 h`, `2 d`.
package func words(seconds: Int64) -> String {
  switch max(seconds, 0) {
  case ..<120: "\(max(seconds, 0)) s"
  case ..<7200: "\(seconds / 60) min"
  case ..<172_800: "\(seconds / 3600) h"
  default: "\(seconds / 86_400) d"
  }
}
