// The program that opens a browser, and its start. It gets an address and nothing else; nothing waits for its end.

import Glibc

/// True if this process has every right on the machine.
func isRoot() -> Bool { geteuid() == 0 }

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

  /// Stands for the address.
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

  /// `POSIX_SPAWN_SETSID`, which glibc's headers show to GNU sources only.
  private static let newSession: Int16 = 0x80

  /// Starts the command in a session of its own, so that an interrupt of ours does not close the browser, and without a
  /// terminal. False if it cannot be started.
  func open(_ url: String) -> Bool {
    let arguments = words.map { $0 == Self.address ? url : $0 }
    var attributes = posix_spawnattr_t()
    var actions = posix_spawn_file_actions_t()
    guard posix_spawnattr_init(&attributes) == 0, posix_spawn_file_actions_init(&actions) == 0 else { return false }
    defer {
      posix_spawnattr_destroy(&attributes)
      posix_spawn_file_actions_destroy(&actions)
    }
    posix_spawnattr_setflags(&attributes, Self.newSession)
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
      posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
    }
    var vector: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
    vector.append(nil)
    defer { for pointer in vector { free(pointer) } }
    var process = pid_t()
    return posix_spawnp(&process, arguments[0], &actions, &attributes, vector, environ) == 0
  }
}
