// Owns where settings come from, and noticing that they may have changed there: the file itself, and every file it names.

import Configuration
import Network

/// A configuration file and its environment.
struct ConfigurationSource: Sendable {
  let file: String
  let environment: [String: String]

  /// The files that settings are made of, at one moment.
  struct State: Equatable, Sendable {
    let files: Set<String>
    private let contents: FileSetState

    init(_ files: Set<String>) {
      self.files = files
      contents = FileSetState(files)
    }

    /// The same files now.
    var now: State { State(files) }
  }

  private static let queue = FileQueue("configuration-files")

  /// The same on a queue for work that may wait for a disk; nothing where only changes count and no file has changed since `known`.
  func readAside(
    _ known: State, _ reason: ReadingReason, reusing contexts: TLSContexts
  ) async -> ReadConfiguration {
    await Self.queue.run {
      if reason == .ifChanged, known == known.now { return ReadConfiguration(result: nil, state: known) }
      return read(known: known.files, reusing: contexts)
    }
  }

  /// The same with the certificates and keys that the settings name. Those that are as before stay.
  func read(known: Set<String>, reusing contexts: TLSContexts) -> ReadConfiguration {
    let (result, state) = read(known: known)
    do throws(ConfigurationError) {
      let settings = try result.get()
      return ReadConfiguration(
        result: .success(.init(settings: settings, contexts: try TLSContexts(settings, reusing: contexts))),
        state: state)
    } catch {
      return ReadConfiguration(result: .failure(error), state: state)
    }
  }

  /// Reads and checks the settings. The state is that of before the reading, so that a change meanwhile shows. Which files to look
  /// at is known only when they have been read, so that is done again where there are others than `known`.
  func read(known: Set<String> = []) -> (Result<Settings, ConfigurationError>, State) {
    var files = known.union([file])
    var result: Result<Settings, ConfigurationError>
    var state: State
    var looks = 0
    repeat {
      state = State(files)
      var read: Set<String> = [file]
      do throws(ConfigurationError) {
        result = .success(
          try Settings.load(file: file, environment: environment, files: .system(pipes: .refused), read: &read))
      } catch {
        result = .failure(error)
      }
      looks += 1
      if read == files || looks == 3 { break }
      files = read
    } while true
    return (result, state)
  }
}
