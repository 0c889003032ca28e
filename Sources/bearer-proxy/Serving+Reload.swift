// Owns a reload: everything is read and made before anything is replaced, so that a mistake anywhere changes nothing.

import Configuration
import Identity
import Network
import Proxy
import Telemetry
import Tokens

/// What reading the configuration came to.
struct ReadConfiguration: Sendable {
  /// The settings with the certificates and keys that they name; nil where no file had changed.
  let result: Result<Parts, ConfigurationError>?
  /// The files as they were before they were read.
  let state: ConfigurationSource.State

  /// What a configuration without mistakes has.
  struct Parts: Sendable {
    let settings: Settings
    let contexts: TLSContexts
  }
}

/// When the configuration is read.
enum ReadingReason: Sendable {
  /// In any case.
  case always
  /// Where a file is another than when it was read last.
  case ifChanged
}

/// Whether the configuration is being read. One reading goes on at a time.
enum Reading {
  case idle
  /// `isAnnounced`: whether the service manager has heard of it. `again`: whether it has to be read again afterwards, and why.
  case running(isAnnounced: Bool, again: ReadingReason?)
}

extension Serving {
  /// Reads the configuration, and every file that it names, beside everything else: a disk that does not answer stops no loop, and no
  /// signal from being obeyed. `take` hears of the result.
  func startReading(_ reason: ReadingReason) {
    if case .running(let isAnnounced, let again) = reading {
      reading = .running(isAnnounced: isAnnounced, again: again == .always ? .always : reason)
      return
    }
    // Where only changes count, there may be nothing to reload.
    reading = .running(isAnnounced: reason == .always, again: nil)
    if reason == .always { notifier?.reloading() }
    let (source, known, contexts, tell) = (source, state, generation.contexts, tell)
    Task { () async -> Void in
      let read = await source.readAside(known, reason, reusing: contexts)
      tell.yield(.read(read))
    }
  }

  /// Goes over to what was read, or says what is wrong with it.
  func take(_ read: ReadConfiguration) async {
    guard case .running(let isAnnounced, let again) = reading else { return }
    reading = .idle
    if let result = read.result {
      if !isAnnounced { notifier?.reloading() }
      await reload(result, read.state)
    }
    if let again { startReading(again) }
  }

  private func reload(
    _ result: Result<ReadConfiguration.Parts, ConfigurationError>, _ state: ConfigurationSource.State
  ) async {
    self.state = state
    do throws(ConfigurationError) {
      let parts = try result.get()
      let next = try self.next(parts.settings, parts.contexts)
      let needRestart = next.settings.needingRestart(since: next.first, assembly.options)
      await admin?.noteReadiness()
      let handovers = await assembly.broker.prepare(next.subscriptions, succeeding: generation.subscriptions)
      generation = next
      if let callers = next.listeners.admin?.callers { admin?.judgeCallers(by: callers) }
      await server.adopt(next.service, listeners: next.traffic)
      await assembly.broker.follow(next.subscriptions)
      keepTokensReady()
      assembly.reloads.succeeded(at: .now, needRestart: needRestart)
      assembly.countReload(.succeeded)
      let report = assembly.reloads.report
      assembly.log.info("configuration reloaded", ["generation": .integer(report.generation)])
      for handover in handovers {
        assembly.log.info(
          "credential changed, the held token serves until the new one has obtained a token",
          [
            "application": .string(handover.application), "scopes": .string(handover.scopes.description),
            "served_until": .integer(Int(clamping: handover.servedUntil.seconds)),
          ])
      }
      if !needRestart.isEmpty {
        assembly.log.warning(
          "a changed setting needs a restart", ["settings": .string(needRestart.joined(separator: ", "))])
      }
      notifier?.ready("serving, configuration \(report.generation)")
    } catch {
      let issues = error.issues.map(\.description)
      assembly.reloads.failed(at: .now, issues: issues)
      assembly.countReload(.failed)
      for issue in issues {
        assembly.log.error(
          "configuration not reloaded, the one before stays in force", ["detail": .string(issue)], when: .always)
      }
      notifier?.ready("serving an older configuration: the file has mistakes")
    }
    watchFiles()
  }

  /// What the settings become. Listeners are bound last: from there on nothing can fail.
  private func next(_ settings: Settings, _ contexts: TLSContexts) throws(ConfigurationError) -> Generation {
    if let issues = confinedTo.map({ settings.addressesOutside($0) }), !issues.isEmpty {
      throw ConfigurationError(issues)
    }
    // It is opened at the next start: what would be wrong then is said now.
    if generation.settings.cache.isElsewhere(than: settings.cache) { try checkCache(of: settings) }
    let accessLog = try AccessLog(settings.log, succeeding: generation.accessLog)
    let checks = CallerTokenChecks(
      settings, contexts: contexts, fetcher: assembly.fetcher, succeeding: generation.checks)
    let listeners = try BoundListeners(
      settings, contexts: contexts, loops: assembly.loops.count, succeeding: generation.listeners, checks: checks)
    return assembly.generation(
      settings, contexts: contexts, checks: checks, listeners: listeners, accessLog: accessLog,
      succeeding: generation)
  }
}
