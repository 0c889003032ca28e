// Owns `run`: read, bind, serve, read again when told to, and end in good order when told to.

import Configuration
import HTTPClient
import Identity
import Network
import Proxy
import Telemetry

/// Serves until somebody ends it.
struct RunCommand {
  let options: RunOptions
  let environment: [String: String]

  func perform() async -> ExitStatus {
    ProcessSignal.ignoreBrokenPipes()
    Machine.raiseDescriptorLimit()
    do throws(ConfigurationError) {
      let source = ConfigurationSource(file: options.configuration, environment: environment)
      let (read, state) = source.read()
      let settings = try read.get()
      let contexts = try TLSContexts(settings)
      try checkCache(of: settings)
      // Now there is one thread, and what it may not do none of its successors may.
      let confinement = Machine.confine(writableDirectories: settings.writableDirectories)
      let failure = dropCapabilities(settings)
      let accessLog = try AccessLog(settings.log)
      return try await start(settings, contexts, source, state, confinement, failure, accessLog)
    } catch {
      complain(error.description + "\n")
      return error.mayPass ? .failed : .usage
    }
  }

  /// Why capabilities that are not needed could not be dropped; nil where they were.
  private func dropCapabilities(_ settings: Settings) -> SystemError? {
    do throws(SystemError) {
      _ = try Machine.keepCapabilities(settings.neededCapabilities(isRoot: Machine.isRoot))
      return nil
    } catch {
      return error
    }
  }

  private func start(
    _ settings: Settings, _ contexts: TLSContexts, _ source: ConfigurationSource, _ state: ConfigurationSource.State,
    _ confinement: Machine.Confinement, _ capabilityFailure: SystemError?, _ accessLog: AccessLog
  ) async throws(ConfigurationError) -> ExitStatus {
    // The main thread ends with the first suspension, for which Dispatch needs a descriptor and dies without one. Callers
    // who wait for a restart could take the last before that, so it comes before anybody is accepted.
    await Task.yield()
    let loopCount = options.loops ?? settings.loops ?? Machine.processorCount
    guard let loops = startLoops(loopCount) else { return .failed }
    let resolver = Resolver()
    let fetcher = Fetcher(loop: loops[0], resolver: resolver)
    let checks = CallerTokenChecks(settings, contexts: contexts, fetcher: fetcher)
    var inherited = InheritedSockets(environment: environment)
    let listeners = try BoundListeners(
      settings, contexts: contexts, loops: loopCount, inherited: &inherited, checks: checks)
    let tracing = Tracing(environment)
    let assembly = await Assembly(
      settings, options: options, loops: loops, resolver: resolver, fetcher: fetcher, tracing: tracing)
    confinement.write(to: assembly.log)
    assembly.log.warnOfRoot(isRoot: Machine.isRoot, dropping: capabilityFailure)
    inherited.reportLeft(to: assembly.log)
    tracing.write(to: assembly.log)
    let generation = assembly.generation(
      settings, contexts: contexts, checks: checks, listeners: listeners, accessLog: accessLog,
      succeeding: nil)
    let notifier = ServiceNotifier(environment: environment)
    await Serving(assembly, generation, source, state, notifier, confinement).run()
    return .done
  }
}

extension InheritedSockets {
  /// Says which sockets no listener of the configuration wants: whoever connects to them waits for nothing.
  fileprivate func reportLeft(to log: Log) {
    for entry in left {
      log.warning(
        "an inherited socket is no listener of the configuration",
        ["name": .string(entry.name), "address": .string(entry.socket.address.description)])
      entry.socket.close()
    }
    for name in unusable { log.warning("an inherited descriptor is no listening socket", ["name": .string(name)]) }
  }
}
