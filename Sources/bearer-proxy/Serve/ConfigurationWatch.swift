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
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    do throws(SystemError) {
      watch = try DirectoryWatch(paths: files) { continuation.yield() }
      task = Self.follow(stream, touched)
    } catch {
      log.debug("changes of the configuration cannot be heard", ["reason": .string(error.description)])
      watch = nil
      task = Self.look(touched)
    }
  }

  private static func follow(
    _ stream: AsyncStream<Void>, _ touched: @escaping @Sendable () -> Void
  ) -> Task<Void, Never> {
    Task {
      // Changes before the watch began count, too.
      touched()
      for await _ in stream {
        do { try await Task.sleep(for: pause) } catch { return }
        touched()
      }
    }
  }

  private static func look(_ touched: @escaping @Sendable () -> Void) -> Task<Void, Never> {
    Task {
      while true {
        do { try await Task.sleep(for: interval) } catch { return }
        touched()
      }
    }
  }

  deinit {
    task.cancel()
  }
}
