// A setting's value together with its place, so that code which finds out later that it cannot be used (a
// certificate that does not match its key, an address in use) reports it like any other mistake in the file.

/// A value from the configuration file, with its key and place.
package struct Located<Value: Sendable>: Sendable {
  package let value: Value
  package let place: Place
  /// The path of keys that leads to it, such as `listeners[0].tls.key_file`.
  package let key: String

  package init(_ value: Value, place: Place, key: String) {
    self.value = value
    self.place = place
    self.key = key
  }

  /// A mistake that shows only when the value is used; `reason` reads on after the key. `mayPass`: another try may
  /// succeed.
  package func issue(_ reason: String, mayPass: Bool = false) -> ConfigurationIssue {
    ConfigurationIssue(place, "\(key): \(reason)", mayPass: mayPass)
  }
}

extension Located<String> {
  /// A file with secrets, which the value names, that every user of the machine can read.
  package func exposed(mode: UInt32) -> ConfigurationIssue {
    issue(
      "\(value) can be read by every user of this machine (mode 0\(String(mode, radix: 8))); chmod o-r helps, or "
        + "'allow_readable_secrets: true' if it has no other users")
  }
}

extension Located: Equatable where Value: Equatable {}
extension Located: Hashable where Value: Hashable {}
