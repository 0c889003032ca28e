// The program that opens a browser, and its start. It gets an address and nothing else; nothing waits for its end.

import Glibc
import Platform

/// The users whose browser opens what this process starts a browser for: its own, root, and who called sudo.
func browserUsers(_ environment: [String: String]) -> Set<UInt32> {
  var users: Set<UInt32> = [geteuid(), 0]
  if let caller = environment["SUDO_UID"].flatMap({ UInt32($0) }) { users.insert(caller) }
  return users
}

/// A command that opens an address.
struct Browser: Equatable, Sendable {
  /// The program and its arguments before and after the address.
  let words: [String]

  /// The place of the address.
  static let address = "%s"

  /// The command for this environment; nil if a browser would not be seen, or must not run. `$BROWSER` names one,
  /// or several between colons, of which the first is taken. A browser as root and without a screen is a mistake or a
  /// text browser in the middle of the terminal.
  init?(environment: [String: String], isRoot: Bool) {
    let hasScreen = ["DISPLAY", "WAYLAND_DISPLAY"].contains { environment[$0]?.isEmpty == false }
    if isRoot, !hasScreen { return nil }
    if let named = environment["BROWSER"]?.split(separator: ":").first {
      let words = named.split(separator: " ").map(String.init)
      guard !words.isEmpty else { return nil }
      self.words = words.contains(Self.address) ? words : words + [Self.address]
    } else if hasScreen {
      words = ["xdg-open", Self.address]
    } else {
      return nil
    }
  }

  /// Starts the command in a session of its own, so that an interrupt of ours does not close the browser, and without a
  /// terminal. False if it cannot be started.
  func open(_ url: String) -> Bool {
    let nowhere = Glibc.open("/dev/null", O_WRONLY | O_CLOEXEC)
    defer { close(nowhere) }
    do throws(SystemError) {
      _ = try StartedProgram(
        words.map { $0 == Self.address ? url : $0 }, outputs: [nowhere, nowhere], group: .ownSession)
      return true
    } catch {
      return false
    }
  }
}
