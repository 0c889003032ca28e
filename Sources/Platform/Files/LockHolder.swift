internal import Glibc

/// The process that a lock file names: `PID NAME`, or the PID alone.
public struct LockHolder: Sendable, Hashable {
  /// Its process id.
  public var process: Int32
  /// The program; empty if the file does not name it.
  public var name: String

  /// A holder.
  public init(process: Int32, name: String) {
    self.process = process
    self.name = name
  }

  /// Reads a lock file's contents, bounded and without control characters; nil if they do not begin with a process id.
  init?(_ contents: some Collection<UInt8>) {
    let digits = contents.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard let process = Int32(String(decoding: digits, as: UTF8.self)), process > 0 else { return nil }
    self.process = process
    name = String(
      decoding: contents.dropFirst(digits.count).filter { $0 > 0x20 && $0 != 0x7F }.prefix(100), as: UTF8.self)
  }

  var contents: [UInt8] { Array("\(process) \(name)".utf8) }

  /// True if the process exists and has not ended. A zombie has ended.
  var lives: Bool {
    // Another user's process cannot be signalled, but exists.
    guard kill(process, 0) == 0 || errno != ESRCH else { return false }
    let descriptor = open("/proc/\(process)/stat", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return true }
    defer { close(descriptor) }
    var text = [UInt8](repeating: 0, count: 512)
    let count = read(descriptor, &text, text.count)
    // `PID (NAME) STATE …`; the name may have any characters.
    guard let bracket = text[..<max(count, 0)].lastIndex(of: UInt8(ascii: ")")), bracket + 2 < count else {
      return true
    }
    return text[bracket + 2] != UInt8(ascii: "Z")
  }
}
