// `run`: read, bind, serve, read again when told to, and end in good order when told to.

import Bytes
import Configuration
import Platform
import Telemetry

/// Serves until it is told to end.
struct RunCommand {
  let options: RunOptions
  /// The program that is started first, and that the process ends with; nil: none.
  var launch: ProgramLaunch?

  func answer(in context: CommandContext) async throws(CommandError) -> CommandAnswer {
    ProcessSignal.ignoreBrokenPipes()
    // A program that is started inherits it.
    if launch == nil { Machine.raiseDescriptorLimit() }
    var source = ConfigurationSource(file: options.configuration, environment: context.environment)
    if let launch { source.adapt = { settings throws(ConfigurationError) in try launch.adapt(settings) } }
    let (read, state) = source.read()
    let configuration = try attempt(try read.get(), otherwise: CommandError.configuration)
    // Now there is one thread, and what it may not do none of its successors may.
    // A program that is started later would have lost the same rights.
    try launch?.start()
    let runtimeDirectory =
      configuration.settings.admin == nil ? nil : RuntimeDirectory.make(environment: context.environment)
    let directories = configuration.settings.writableDirectories + (runtimeDirectory.map { [$0] } ?? [])
    let programs = configuration.settings.programs
    let confinement = Machine.confine(writableDirectories: directories, programs: runnable(programs))
    let capabilityFailure = dropCapabilities(configuration.settings)
    // The main thread ends with the first suspension, for which Dispatch needs a descriptor and crashes without one.
    // Callers who wait for a restart could take the last before that, so it comes before any connection is accepted.
    await Task.yield()
    let machinery = try attempt(
      try Machinery(
        options, loops: options.loops ?? configuration.settings.loops ?? Machine.processorCount,
        environment: context.environment,
        confinedTo: confinement.isFull ? KeptRights(directories: Set(directories), programs: Set(programs)) : nil),
      otherwise: CommandError.noEventLoop)
    let heard = ProcessEvents(launch)
    var inherited = InheritedSockets(environment: launch == nil ? context.environment : [:])
    if let launch { inherited.add(launch.socket) }
    let held = try attempt(
      try HeldResources(configuration, machinery, inherited: &inherited, succeeding: nil),
      otherwise: CommandError.configuration)
    let composition = await Composition(configuration, machinery, held.listeners)
    confinement.write(to: composition.log)
    composition.log.warnOfRoot(isRoot: Machine.isRoot && launch == nil, dropping: capabilityFailure)
    inherited.reportLeft(to: composition.log)
    machinery.tracing.write(to: composition.log)
    let generation = composition.generation(configuration, held, succeeding: nil)
    let notifier = ServiceNotifier(environment: launch == nil ? context.environment : [:])
    let record = runtimeDirectory.flatMap { InstanceRecord(of: options.configuration, in: $0) }
    let proxy = RunningProxy(composition, generation, source, state, notifier, hearing: heard)
    let loss = await proxy.run(recording: record)
    return CommandAnswer(text: "", status: loss == nil ? .done : .failed)
  }

  /// The error that kept capabilities which are not needed; nil if they were dropped.
  private func dropCapabilities(_ settings: Settings) -> SystemError? {
    do throws(SystemError) {
      _ = try Machine.keepCapabilities(settings.neededCapabilities(isRoot: Machine.isRoot))
      return nil
    } catch {
      return error
    }
  }
}

extension InheritedSockets {
  /// Reports and closes inherited sockets that no listener of the configuration uses.
  fileprivate func reportLeft(to log: Log) {
    for entry in left {
      log.warning(
        "an inherited socket is no listener of the configuration",
        ["name": .string(entry.name), "address": .string(entry.socket.address.description), "next": .next(.socketUnit)])
      entry.socket.close()
    }
    for name in unusable {
      log.warning(
        "an inherited descriptor is no listening socket", ["name": .string(name), "next": .next(.inheritedDescriptor)])
    }
  }
}

extension ServiceNotifier {
  /// Gives signs of life until the task is cancelled, twice as often as they are waited for. A loop that is stuck ends
  /// that, and the service manager starts the process anew.
  func proveLife(of loops: [EventLoop]) async {
    guard let watchdog else { return }
    while !Task.isCancelled {
      for loop in loops { await Task(executorPreference: loop) { loop.assertOnLoop() }.value }
      alive()
      do { try await Task.sleep(for: Duration(watchdog) / 2) } catch { return }
    }
  }
}
