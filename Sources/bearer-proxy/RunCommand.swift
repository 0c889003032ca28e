// Owns `run`: read, bind, serve, and end in good order when told to.

import Configuration
import HTTPClient
import Identity
import Network
import Proxy
import Telemetry

/// Serves until a signal ends it.
struct RunCommand {
  let options: RunOptions
  let environment: [String: String]

  func perform() async -> ExitStatus {
    ProcessSignal.ignoreBrokenPipes()
    Machine.raiseDescriptorLimit()
    do throws(ConfigurationError) {
      let settings = try Settings.load(file: options.configuration, environment: environment)
      let contexts = try TLSContexts(settings)
      try checkCache(settings.cache)
      // Now there is one thread, and what it may not do none of its successors may.
      let confinement = Machine.confine(writableDirectories: settings.writableDirectories)
      return try await start(settings, contexts, confinement)
    } catch {
      complain(error.description + "\n")
      return .usage
    }
  }

  private func start(
    _ settings: Settings, _ contexts: TLSContexts, _ confinement: Machine.Confinement
  ) async throws(ConfigurationError) -> ExitStatus {
    // The main thread ends with the first suspension, for which Dispatch needs a descriptor and dies without one. Callers
    // who wait for a restart could take the last before that, so it comes before anybody is accepted.
    await Task.yield()
    let loopCount = options.loops ?? settings.loops ?? Machine.processorCount
    guard let loops = startLoops(loopCount) else { return .failed }
    let resolver = Resolver()
    let fetcher = Fetcher(loop: loops[0], resolver: resolver)
    let listeners = try BoundListeners(settings, contexts: contexts, loops: loopCount) { rule in
      CallerTokenCheck(rule, fetcher: fetcher, tls: contexts.callerIssuers[rule.caFile?.value])
    }
    let assembly = await Assembly(
      settings, contexts: contexts, options: options, loops: loops, resolver: resolver, fetcher: fetcher)
    confinement.write(to: assembly.log)
    await serve(settings, assembly, listeners)
    return .done
  }

  private func serve(_ settings: Settings, _ assembly: Assembly, _ listeners: BoundListeners) async {
    let server = ProxyServer(assembly.service, loops: assembly.loops, listeners: listeners.traffic)
    assembly.publications.attach(server)
    let (signals, continuation) = AsyncStream.makeStream(of: Void.self)
    let handlers = [ProcessSignal.Name.terminate, .interrupt].map { name in
      ProcessSignal(name) { continuation.yield() }
    }
    let admin = listeners.admin.map { bound in
      let admin = AdminServer(assembly.service, loop: assembly.loops[0], names: bound.names)
      admin.start(bound.socket)
      return admin
    }
    server.start()
    let tokens = Task { await assembly.broker.keepReady(assembly.subscriptions) }
    let cache = Task { await assembly.broker.followCache() }
    for listener in listeners.traffic {
      assembly.log.info("serving", ["address": .string(listener.address?.description ?? "")])
    }
    for await _ in signals { break }

    assembly.log.info("draining", ["limit_ms": .milliseconds(settings.shutdown.limit)])
    admin?.drain()
    tokens.cancel()
    cache.cancel()
    let cutOff = await server.drain(limit: TimeSpan(settings.shutdown.limit))
    listeners.removeAdminSocketFile()
    assembly.log.info("ended", ["connections_cut_off": .integer(cutOff)])
    OutputFile.standardOutput.flush()
    OutputFile.standardError.flush()
    withExtendedLifetime(handlers) {}
  }
}
