import Bytes
import Glibc
import TestSupport
import Testing

@testable import Platform

@Suite(.timeLimit(.minutes(5)))
struct ServiceNotifierTests {
  @Test(arguments: [("/run/notify", Array("/run/notify\0".utf8)), ("@name", [0] + Array("name".utf8))])
  func `a path ends with a zero, an abstract name begins with one and has no end mark`(name: String, path: [UInt8]) {
    #expect(ServiceNotifier.address(name) == withUnsafeBytes(of: sa_family_t(AF_UNIX)) { Array($0) } + path)
  }

  @Test(arguments: ["", "@", "/", "relative", "vsock:2:1234", "/" + String(repeating: "x", count: 107)])
  func `an invalid name of a unix socket connects nowhere`(name: String) {
    #expect(ServiceNotifier.address(name) == nil)
    #expect(ServiceNotifier(environment: ["NOTIFY_SOCKET": name]) == nil)
  }

  @Test(
    arguments: [
      (["WATCHDOG_USEC": "3000000"], TimeSpan.seconds(3)),
      (["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "\(getpid())"], .seconds(3)),
      (["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "1"], nil), (["WATCHDOG_USEC": "0"], nil),
      (["WATCHDOG_USEC": "often"], nil), (["WATCHDOG_USEC": "18446744073709551615"], nil), ([:], nil),
    ] as [([String: String], TimeSpan?)])
  func `the watchdog interval is for this process`(environment: [String: String], watchdog: TimeSpan?) throws {
    let notifier = try #require(ServiceNotifier(environment: environment.merging(["NOTIFY_SOCKET": "@nobody"]) { $1 }))
    #expect(notifier.watchdog == watchdog)
    // Without a listener, it neither waits nor fails.
    notifier.alive()
  }

  @Test func `only sockets of this process are taken over`() {
    for environment in [
      [:], ["LISTEN_FDS": "1"], ["LISTEN_FDS": "1", "LISTEN_PID": "1"],
      ["LISTEN_FDS": "0", "LISTEN_PID": "\(getpid())"],
      ["LISTEN_FDS": "-1", "LISTEN_PID": "\(getpid())"], ["LISTEN_FDS": "x", "LISTEN_PID": "\(getpid())"],
    ] {
      let sockets = InheritedSockets(environment: environment)
      #expect(sockets.left.isEmpty && sockets.unusable.isEmpty)
    }
  }
}
