// Owns where settings come from, and noticing that they may have changed there: the file itself, and every file it names.

import Configuration
import Network

/// A configuration file and its environment.
struct ConfigurationSource {
  let file: String
  let environment: [String: String]

  /// The files that settings are made of, at one moment.
  struct State: Equatable {
    let files: Set<String>
    private let contents: FileSetState

    init(_ files: Set<String>) {
      self.files = files
      contents = FileSetState(files)
    }

    /// The same files now.
    var now: State { State(files) }
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
        result = .success(try Settings.load(file: file, environment: environment, read: &read))
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
