// Owns a reload: everything is read and made before anything is replaced, so that a mistake anywhere changes nothing.

import Configuration
import Identity
import Network
import Proxy
import Telemetry
import Tokens

extension Serving {
  /// Reads the configuration again and goes over to it, or says what is wrong with it.
  func reload() async {
    notifier?.reloading()
    let known = state.files
    let (read, state) = source.read(known: known)
    self.state = state
    do throws(ConfigurationError) {
      let next = try self.next(read.get())
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
  private func next(_ settings: Settings) throws(ConfigurationError) -> Generation {
    if let issues = confinedTo.map({ settings.addressesOutside($0) }), !issues.isEmpty {
      throw ConfigurationError(issues)
    }
    // It is opened at the next start: what would be wrong then is said now.
    if generation.settings.cache.isElsewhere(than: settings.cache) { try checkCache(settings.cache) }
    let contexts = try TLSContexts(settings, reusing: generation.contexts)
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
