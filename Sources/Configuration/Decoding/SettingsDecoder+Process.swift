// What the small sections mean: log, limits, shutdown.

internal import HTTP
internal import Routing
internal import Telemetry

extension SettingsDecoder {
  mutating func log(_ file: Section) -> LogSettings {
    var log = LogSettings()
    guard let section = section(file, .log) else { return log }
    log.level = choice(section, .level, of: LogLevel.self) ?? log.level
    log.format = choice(section, .format, of: LogFormat.self) ?? log.format
    log.access = boolean(section, .access) ?? log.access
    log.accessFile = path(section, .accessFile)
    log.identities = choice(section, .identities, of: RecordedIdentities.self) ?? log.identities
    return log
  }

  mutating func limits(_ file: Section, _ defaults: UpstreamDefaults) -> ServiceLimits {
    var limits = ServiceLimits(requestHead: defaults.requestHead, idle: defaults.timeouts.idle)
    guard let section = section(file, .limits) else { return limits }
    var head = limits.head
    head.headBytes = size(section, .headBytes, in: (4 << 10)...(1 << 20)) ?? head.headBytes
    head.targetBytes = size(section, .targetBytes, in: (1 << 10)...(1 << 20)) ?? min(8 << 10, head.headBytes)
    if head.targetBytes > head.headBytes, let node = section[.targetBytes] {
      report(node.place, "\(section.path(.targetBytes)) is more than \(section.path(.headBytes)), which includes it")
    }
    head.fieldCount = integer(section, .fieldCount, in: 10...1000) ?? head.fieldCount
    limits.head = head
    limits.connections = integer(section, .connections, in: 1...1_000_000) ?? limits.connections
    limits.unfinished = integer(section, .unfinished, in: 1...1_000_000) ?? limits.unfinished
    limits.callerTokens = integer(section, .callerTokens, in: 16...1_000_000) ?? limits.callerTokens
    if let size = sizeOrNone(section, .bodyBytes, in: 0...(1 << 50)) {
      limits.bodyBytes = size.map { UInt64($0) } ?? .max
    }
    if let size = sizeOrNone(section, .callerRate, in: 1...(1 << 30)) { limits.callerRate = size.map { UInt64($0) } }
    return limits
  }

  /// How the process ends. How long a connection waits for one more request then is among the limits towards callers.
  mutating func shutdown(_ file: Section, _ limits: inout ServiceLimits) -> ShutdownSettings {
    var shutdown = ShutdownSettings()
    guard let section = section(file, .shutdown) else { return shutdown }
    shutdown.limit = duration(section, .limit) ?? shutdown.limit
    shutdown.delay = durationOrNone(section, .delay)?.map { $0 } ?? shutdown.delay
    limits.grace = duration(section, .grace) ?? limits.grace
    if shutdown.delay >= shutdown.limit, let node = section[.delay] ?? section[.limit] {
      report(node.place, "\(section.path(.delay)) is shorter than \(section.path(.limit)), which includes it")
    }
    return shutdown
  }
}
