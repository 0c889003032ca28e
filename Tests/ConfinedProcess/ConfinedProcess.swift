// A process that does to itself what a test process cannot. For ProcessTests; not part of the product.
//
//   confined-process DIRECTORY ELSEWHERE [PROGRAM …]
//       confines itself as `run` does, then tries what it may not do any more: a line for each attempt, and 0 or errno;
//       the programs, or directories of them, may still be run
//   confined-process secrets
//       makes secrets, and says how often its memory holds each of them before and after they are released
//   confined-process exit
//       ends while threads use OpenSSL

import Bytes
import Dispatch
import Glibc
import Platform

@main
struct ConfinedProcess {
  static func main() {
    CryptoLibrary.outlastExit()
    let arguments = CommandLine.arguments
    if arguments.dropFirst() == ["exit"] { exitBusily() }
    if arguments.dropFirst() == ["secrets"] { return releaseSecrets() }
    guard arguments.count >= 3 else { exit(2) }
    Machine.forbidDumps()
    let confinement = Machine.confine(writableDirectories: [arguments[1]], programs: Array(arguments.dropFirst(3)))
    write("confinement \(confinement)")
    for directory in [arguments[1], arguments[2]] {
      let name = directory == arguments[1] ? "inside" : "outside"
      say("make \(name)", creat("\(directory)/new", 0o600))
      say("rename \(name)", rename("\(directory)/old", "\(directory)/renamed"))
      say("truncate \(name)", truncate("\(directory)/kept", 0))
      say("read \(name)", open("\(directory)/kept", O_RDONLY))
      say("write \(name)", open("\(directory)/kept", O_WRONLY))
      say("append \(name)", open("\(directory)/kept", O_WRONLY | O_APPEND))
      say("link to \(name)", link("\(directory)/kept", "\(arguments[1])/linked-\(name)"))
      // The link itself is made inside.
      _ = symlink("\(directory)/kept", "\(arguments[1])/pointer-\(name)")
      say("write through a link \(name)", open("\(arguments[1])/pointer-\(name)", O_WRONLY))
      say("make a directory \(name)", mkdir("\(directory)/folder", 0o700))
      say("make a link \(name)", symlink("/etc/passwd", "\(directory)/symbolic"))
      say("make a pipe \(name)", mkfifo("\(directory)/pipe", 0o600))
      say("make a socket \(name)", mknod("\(directory)/socket", S_IFSOCK | 0o600, 0))
      say("remove \(name)", unlink("\(directory)/kept"))
    }
    say("discard", open("/dev/null", O_WRONLY))
    let words = ["/bin/true", nil].map { $0.flatMap { strdup($0) } }
    say("execute inside", execv("\(arguments[1])/program", words))
    // If this succeeds, nothing is printed.
    say("execute", execv("/bin/true", words))
    for word in words { free(word) }
  }

  // MARK: Secrets

  /// Secrets whose bytes are computed, so that no other copy of them is ever in memory.
  private static func releaseSecrets() {
    let bytes = { (number: UInt64) in
      (0..<48 as Range<UInt64>).lazy.map { index in computed(number, index) }
    }
    var plain: Secret? = Secret(bytes(1))
    var prefixed: Secret? = plain.map { Secret(prefix: "Bearer ", $0) }
    var many: [Secret] = (0..<100).map { _ in Secret(bytes(2)) }
    let kept = Secret(bytes(3))
    write("plain before \(occurrences(of: 1))")
    write("many before \(occurrences(of: 2))")
    plain = nil
    write("plain without the first \(occurrences(of: 1))")
    prefixed = nil
    many = []
    withExtendedLifetime((plain, prefixed, many)) {}
    write("plain after \(occurrences(of: 1))")
    write("many after \(occurrences(of: 2))")
    write("kept after \(occurrences(of: 3))")
    withExtendedLifetime(kept) {}
  }

  /// Byte `index` of secret `number`: nothing that other memory holds by chance.
  @inline(never)
  private static func computed(_ number: UInt64, _ index: UInt64) -> UInt8 {
    var value = (number << 32 | index) &* 0x9E37_79B9_7F4A_7C15
    value = (value ^ value >> 29) &* 0xBF58_476D_1CE4_E5B9
    return UInt8(truncatingIfNeeded: value >> 32)
  }

  /// The buffer for memory that is read. It stays, so that no other copy of a secret is left.
  private nonisolated(unsafe) static let piece = UnsafeMutableRawBufferPointer.allocate(
    byteCount: 1 << 20, alignment: 16)

  /// The number of copies of the secret, from its 17th byte on, in writable memory of the process. The allocator uses
  /// the first sixteen bytes of what is free for itself.
  private static func occurrences(of number: UInt64) -> Int {
    let memory = open("/proc/self/mem", O_RDONLY)
    let maps = fopen("/proc/self/maps", "r")
    defer {
      close(memory)
      fclose(maps)
    }
    var found = 0
    var line = [CChar](repeating: 0, count: 512)
    let piece = Self.piece
    while fgets(&line, Int32(line.count), maps) != nil {
      let text = line.withUnsafeBufferPointer { String(decoding: $0.map { UInt8(bitPattern: $0) }, as: UTF8.self) }
      let words = text.split(separator: " ")
      let ends = words[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
      guard words.count > 1, words[1].hasPrefix("rw"), ends.count == 2 else { continue }
      var start = ends[0]
      while start < ends[1] {
        // Pieces overlap, so that none is cut.
        let count = pread(memory, piece.baseAddress, min(piece.count, Int(ends[1] - start)), Int(start))
        if count <= 0 { break }
        for offset in 0..<max(count - 31, 0) where isPart(number, piece, offset) {
          // Not what was read of a secret before: this piece itself.
          let address = start + UInt64(offset)
          let own = UInt64(UInt(bitPattern: piece.baseAddress))
          if address < own || address >= own + UInt64(piece.count) { found += 1 }
        }
        start += UInt64(count > 64 && start + UInt64(count) < ends[1] ? count - 32 : count)
      }
    }
    return found
  }

  private static func isPart(_ number: UInt64, _ bytes: UnsafeMutableRawBufferPointer, _ offset: Int) -> Bool {
    for index in 0..<32 where bytes[offset + index] != computed(number, UInt64(index + 16)) { return false }
    return true
  }

  private static func exitBusily() -> Never {
    let begun = DispatchSemaphore(value: 0)
    for number in 0..<4 {
      DispatchQueue(label: "\(number)").async {
        for round in 0... {
          // Refused: the reason is looked up in OpenSSL's tables, under its locks.
          _ = try? TLSContext.client(trustPath: "/nowhere")
          _ = try? RandomBytes.make(16)
          if round == 10 { begun.signal() }
        }
      }
    }
    for _ in 0..<4 { begun.wait() }
    exit(0)
  }

  private static func say(_ attempt: String, _ result: Int32) {
    write("\(attempt) \(result < 0 ? errno : 0)")
  }

  private static func write(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = Glibc.write(STDOUT_FILENO, bytes, bytes.count)
  }
}
