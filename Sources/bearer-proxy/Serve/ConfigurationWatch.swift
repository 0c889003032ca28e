// When the configuration's files are looked at: a moment after something happened beside them, or every few seconds
// if that cannot be watched.

import Bytes
import Platform
import Telemetry

/// Watches the files of a configuration as long as it lives.
final class ConfigurationWatch {
  private let task: Task<Void, Never>
  private let watch: DirectoryWatch?

  /// The time between two steps of a writer that needs several, or writes several files.
  private static let pause = Duration.milliseconds(100)
  /// The interval for files that other machines write.
  private static let interval = Duration.seconds(5)

  /// Calls `touched` whenever it is worth looking at the files.
  init(_ files: Set<String>, log: Log, touched: @escaping @Sendable () -> Void) {
    let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let events: AsyncStream<Void>
    do throws(SystemError) {
      watch = try DirectoryWatch(paths: files) { continuation.yield() }
      events = changes
    } catch {
      log.debug("changes of the configuration cannot be heard", ["reason": .string(error.description)])
      watch = nil
      events = AsyncStream { do { return try await Task.sleep(for: Self.interval) } catch { return nil } }
    }
    task = Self.follow(events, touched)
  }

  private static func follow(
    _ events: AsyncStream<Void>, _ touched: @escaping @Sendable () -> Void
  ) -> Task<Void, Never> {
    Task {
      // Changes before the watch began count, too.
      touched()
      for await _ in events {
        do { try await Task.sleep(for: pause) } catch { return }
        touched()
      }
    }
  }

  deinit {
    task.cancel()
  }
}
