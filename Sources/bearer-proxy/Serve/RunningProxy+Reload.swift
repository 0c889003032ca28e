// A reload: everything is read and made before anything is replaced, so that a mistake anywhere changes nothing.

import Bytes
import Configuration
import Identity
import Platform
import Proxy
import Telemetry
import Tokens

/// The state of the reading of the configuration. One reading goes on at a time.
enum Reading {
  case idle
  /// `again`: why it has to be read again afterwards.
  case running(ReadingReason, again: ReadingReason?)
}

extension RunningProxy {
  /// Reads the configuration, and every file that it names, beside everything else: a disk that does not answer stops
  /// no loop, and no signal from being obeyed. `take` hears of the result.
  func startReading(_ reason: ReadingReason) {
    if case .running(let current, let again) = reading {
      reading = .running(current, again: max(again ?? reason, reason))
      return
    }
    reading = .running(reason, again: nil)
    // For the other reasons there may be nothing to reload.
    if reason == .always { notifier?.reloading() }
    let (source, known, former, tell) = (source, state, generation.configuration, tell)
    let proof = BoundCertificateProof(composition, generation)
    Task { () async -> Void in
      tell.yield(.read(await proof.proven(source.read(reason, since: known, succeeding: former))))
    }
  }

  /// Goes over to what was read, or says what is wrong with it.
  func take(_ read: ConfigurationSource.Reading) async {
    guard case .running(let reason, let again) = reading else { return }
    reading = .idle
    if let result = read.result {
      if read.isNews(reason, since: state, keptCertificates) {
        if reason != .always { notifier?.reloading() }
        state = read.state
        do throws(ConfigurationError) { try await reload(result.get()) } catch { report(error) }
        watchFiles()
      }
      retryCertificates(of: read.keptCertificates)
    }
    if let again { startReading(again) }
  }

  /// Has certificates tried again that obtained no token. One retry is pending at most, however often the
  /// configuration is read meanwhile.
  private func retryCertificates(of applications: Set<String>) {
    keptCertificates = applications
    certificateRetry?.cancel()
    if applications.isEmpty { return }
    certificateRetry = Task { [tell] in
      do { try await Task.sleep(for: BoundCertificateProof.pause) } catch { return }
      tell.yield(.certificateRetry)
    }
  }

  /// The way of the start again: everything is obtained, and with it nothing can fail any more, before anything is
  /// replaced.
  private func reload(_ configuration: LoadedConfiguration) async throws(ConfigurationError) {
    var none = InheritedSockets()
    let held = try HeldResources(configuration, composition.machinery, inherited: &none, succeeding: generation.held)
    let next = composition.generation(configuration, held, succeeding: generation)
    let needRestart = next.settings.needingRestart(since: next.first, composition.machinery.options)
    await admin?.noteReadiness()
    let handovers = await composition.broker.prepare(next.subscriptions, succeeding: generation.subscriptions)
    generation = next
    if let callers = next.held.listeners.admin?.callers { admin?.judgeCallers(by: callers) }
    await server.adopt(next.service, listeners: next.traffic)
    await composition.broker.follow(next.subscriptions)
    await keepTokensReady()
    watchCertificates()
    composition.reloads.withLock { $0.succeeded(at: .now, needRestart: needRestart) }
    composition.countReload(.succeeded)
    let report = composition.reloads.withLock { $0 }
    composition.log.info("configuration reloaded", ["generation": .integer(report.generation)])
    for handover in handovers {
      composition.log.info(
        "credential changed, the held token serves until the new one has obtained a token",
        [
          "application": .string(handover.application), "scopes": .string(handover.scopes.description),
          "served_until": .integer(Int(clamping: handover.servedUntil.seconds)),
        ])
    }
    if !needRestart.isEmpty {
      composition.log.warning(
        "a changed setting needs a restart",
        ["settings": .string(needRestart.joined(separator: ", ")), "next": .next(.restart)])
    }
    notifier?.ready("serving, configuration \(report.generation)")
  }

  private func report(_ error: ConfigurationError) {
    let issues = error.issues.map(\.description)
    composition.reloads.withLock { $0.failed(at: .now, issues: issues) }
    composition.countReload(.failed)
    for issue in issues {
      composition.log.error(
        "configuration not reloaded, the one before stays in force",
        ["detail": .string(issue), "next": .string(composition.machinery.options.commands.check)], when: .always)
    }
    notifier?.ready("serving an older configuration: the file has mistakes")
  }
}
