import Dispatch
import Glibc
import Platform
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ProcessSignalTests {
  @Test func `a signal at once after the beginning is heard, every time`() async {
    for _ in 0..<200 {
      let (deliveries, tell) = AsyncStream.makeStream(of: Void.self)
      let handler = ProcessSignal(.userOne) {
        tell.yield()
        tell.finish()
      }
      kill(getpid(), SIGUSR1)
      var count = 0
      for await _ in deliveries { count += 1 }
      #expect(count == 1)
      withExtendedLifetime(handler) {}
    }
  }
}
