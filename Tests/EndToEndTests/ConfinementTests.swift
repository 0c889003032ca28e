// The rights that a running proxy has given up, in every thread.

import FoundationEssentials
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct ProxyConfinementTests {
  @Test func `no thread can gain privileges, and the process leaves no core`() async throws {
    let scene = try await ScriptedScene()
    #expect(try await scene.proxy.get("/seen").status == 200)
    let process = "/proc/\(scene.proxy.process.identifier)"
    let threads = try FileManager.default.contentsOfDirectory(atPath: "\(process)/task")
    #expect(threads.count > 1)
    for thread in threads {
      #expect(textOfFile("\(process)/task/\(thread)/status").contains("NoNewPrivs:\t1"), "thread \(thread)")
    }
    let limit = try #require(textOfFile("\(process)/limits").split(separator: "\n").first { $0.hasPrefix("Max core") })
    #expect(limit.split(separator: " ").filter { $0 == "0" }.count == 2)
    #expect(scene.proxy.everythingWritten.contains("\"message\":\"confined"))
  }

  @Test func `a crash shows the message and no memory`() async throws {
    let scene = try await ScriptedScene()
    try await succeed(["kill", "-SEGV", "\(scene.proxy.process.identifier)"])
    #expect(try await scene.proxy.process.wait(within: .seconds(20)) != 0)
    let written = scene.proxy.everythingWritten
    #expect(!written.contains("Registers:") && !written.contains("Thread 0"))
  }
}
