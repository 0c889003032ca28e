// A process that does to itself what a test process cannot. For ProcessTests; not part of the product.
//
//   confined-process DIRECTORY ELSEWHERE [PROGRAM …]
//       confines itself as `run` does, then tries what it may not do any more: a line for each attempt, and 0 or errno;
//       the programs, or directories of them, may still be run
//   confined-process exit
//       ends while threads use OpenSSL

import Dispatch
import Glibc
import Platform

@main
struct ConfinedProcess {
  static func main() {
    CryptoLibrary.outlastExit()
    let arguments = CommandLine.arguments
    if arguments.dropFirst() == ["exit"] { exitBusily() }
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
      say("remove \(name)", unlink("\(directory)/kept"))
    }
    say("discard", open("/dev/null", O_WRONLY))
    let words = ["/bin/true", nil].map { $0.flatMap { strdup($0) } }
    say("execute inside", execv("\(arguments[1])/program", words))
    // Where this succeeds, nothing is said.
    say("execute", execv("/bin/true", words))
    for word in words { free(word) }
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
