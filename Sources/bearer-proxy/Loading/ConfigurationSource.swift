import Bytes
import Configuration
import Platform

/// Settings with everything that the files they name hold. What can be wrong with a file has been found when there is
/// one of these.
final class LoadedConfiguration: Sendable {
  let settings: Settings
  /// The certificates and keys of TLS.
  let contexts: TLSContexts
  /// The certificates that applications prove themselves with.
  let certificates: SigningCertificates
  /// The certificates whose end is watched.
  let watched: WatchedCertificates
  /// Those of them that are for the collector of traces.
  private let collector: WatchedCertificates
  /// The store of tokens.
  let cache: CacheLocation

  /// Loads the files. Certificates that are as in `former` stay. Another place of the cache is only checked: it
  /// is opened at the next start, but its mistakes are reported now.
  init(
    _ settings: Settings, environment: [String: String], succeeding former: LoadedConfiguration? = nil
  ) throws(ConfigurationError) {
    self.settings = settings
    (contexts, certificates) = try Self.certificates(settings, former)
    collector = former?.collector ?? WatchedCertificates(collectorOf: environment)
    watched = WatchedCertificates(settings, certificates, collector: collector)
    if let former, !former.settings.cache.isElsewhere(than: settings.cache),
      former.settings.cacheKeys == settings.cacheKeys
    {
      cache = former.cache
    } else {
      cache = try CacheLocation(settings, entrance: CacheEntrance(settings, contexts, certificates))
    }
  }

  private init(
    _ settings: Settings, _ contexts: TLSContexts, _ certificates: SigningCertificates,
    _ collector: WatchedCertificates, _ cache: CacheLocation
  ) {
    (self.settings, self.contexts, self.certificates, self.cache) = (settings, contexts, certificates, cache)
    self.collector = collector
    watched = WatchedCertificates(settings, certificates, collector: collector)
  }
}

extension LoadedConfiguration {
  /// The same with certificates of some applications as they were in `former`.
  func keepingCertificates(
    of names: Set<String>, from former: LoadedConfiguration
  ) throws(ConfigurationError) -> LoadedConfiguration {
    let certificates = certificates.keeping(names, from: former.certificates)
    return LoadedConfiguration(
      settings, try TLSContexts(settings, certificates, reusing: former.contexts), certificates, collector, cache)
  }

  /// Loads both kinds of certificates, so that the mistakes of both are reported at once.
  private static func certificates(
    _ settings: Settings, _ former: LoadedConfiguration?
  ) throws(ConfigurationError) -> (TLSContexts, SigningCertificates) {
    let certificates: SigningCertificates
    do throws(ConfigurationError) {
      certificates = try SigningCertificates(settings)
    } catch let signing {
      do throws(ConfigurationError) {
        _ = try TLSContexts(settings, .none, reusing: former?.contexts)
      } catch {
        throw ConfigurationError(error.issues + signing.issues)
      }
      throw signing
    }
    return (try TLSContexts(settings, certificates, reusing: former?.contexts), certificates)
  }
}

/// The reason for reading the configuration. Of two reasons, the greater one counts.
enum ReadingReason: Sendable, Comparable {
  /// A file may be another than when it was read last; if none is, nothing is read.
  case ifChanged
  /// A changed certificate that obtained no token is to be tried again.
  case certificateRetry
  /// It was asked for.
  case always
}

/// A configuration file and its environment.
struct ConfigurationSource: Sendable {
  let file: String
  let environment: [String: String]
  /// Changes the settings of the file for this process; nil: they are as the file has them.
  var adapt: (@Sendable (Settings) throws(ConfigurationError) -> Settings)?

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

  struct Reading: Sendable {
    /// nil if only changes count and no file has changed.
    let result: Result<LoadedConfiguration, ConfigurationError>?
    /// The files as they were before they were read, so that a change meanwhile shows.
    let state: State
    /// The applications whose former certificate stays, because the changed one obtained no token.
    var keptCertificates: Set<String> = []

    /// True if there is something to go over to: trying certificates again, with the files as they were, may come to
    /// nothing.
    func isNews(_ reason: ReadingReason, since known: State, _ kept: Set<String>) -> Bool {
      result != nil && (reason != .certificateRetry || state != known || keptCertificates != kept)
    }
  }

  private static let queue = FileQueue("configuration-files")

  /// Reads on a queue for work that may wait for a disk.
  func read(_ reason: ReadingReason, since known: State, succeeding former: LoadedConfiguration) async -> Reading {
    await Self.queue.run {
      if reason == .ifChanged, known == known.now { return Reading(result: nil, state: known) }
      let (settings, state) = readSettings(known: known.files)
      return Reading(result: load(settings, succeeding: former), state: state)
    }
  }

  func read() -> (Result<LoadedConfiguration, ConfigurationError>, State) {
    let (settings, state) = readSettings(known: [])
    return (load(settings, succeeding: nil), state)
  }

  private func load(
    _ settings: Result<Settings, ConfigurationError>, succeeding former: LoadedConfiguration?
  ) -> Result<LoadedConfiguration, ConfigurationError> {
    Result { () throws(ConfigurationError) in
      try LoadedConfiguration(settings.get(), environment: environment, succeeding: former)
    }
  }

  /// Reads and checks the settings. Which files to look at is known only when they have been read, so that is done
  /// again if there are others than `known`.
  private func readSettings(known: Set<String>) -> (Result<Settings, ConfigurationError>, State) {
    var files = known.union([file])
    var result: Result<Settings, ConfigurationError>
    var state: State
    var looks = 0
    repeat {
      state = State(files)
      var read: Set<String> = [file]
      result = Result { () throws(ConfigurationError) in
        let settings = try Settings.load(
          file: file, environment: environment, files: .system(), read: &read)
        return try adapt?(settings) ?? settings
      }
      looks += 1
      if read == files || looks == 3 { break }
      files = read
    } while true
    return (result, state)
  }
}

extension FileAccess {
  /// The files of this machine, through the one opener, which waits for no pipe. The configuration may be a
  /// pipe if its writers finish within `patience`: `check -c <(…)`.
  static func system(orPipeWithin patience: TimeSpan? = nil) -> FileAccess {
    func reader(_ patience: TimeSpan?) -> ReadFile {
      { path, limit throws(UnreadableFile) in
        try attempt(try ReadableFile.contents(of: path, limit: limit, orPipeWithin: patience)) { (error: FileError) in
          UnreadableFile(error.description)
        }
      }
    }
    return FileAccess(
      readConfiguration: reader(patience), read: reader(nil), findExposure: { FileExposure.mode(of: $0) },
      findWriters: { path in
        OtherWriters.find(path).map { FileWriters($0.description, areEverybody: $0.areEverybody) }
      }, judgeProgram: { OtherWriters.problem(ofProgram: $0) },
      isKept: { FileExposure.isKept(in: $0) })
  }
}

extension Settings {
  /// Reads and checks a configuration for a command that reads it once: it may come through a pipe.
  static func load(file: String, environment: [String: String]) throws(ConfigurationError) -> Settings {
    var read: Set<String> = []
    return try load(
      file: file, environment: environment, files: .system(orPipeWithin: .seconds(30)), read: &read)
  }
}
