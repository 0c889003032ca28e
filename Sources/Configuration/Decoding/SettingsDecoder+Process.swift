internal import HTTP
internal import Routing
internal import Telemetry

extension SettingsDecoder {
  mutating func log(_ file: Section) -> LogSettings {
    var log = LogSettings()
    guard let section = section(file, .log) else { return log }
    log.level = chosen(section, .level, of: LogLevel.self)
    log.format = chosen(section, .format, of: LogFormat.self)
    log.access = boolean(section, .access)
    log.accessFile = path(section, .accessFile)
    log.identities = chosen(section, .identities, of: RecordedIdentities.self)
    return log
  }

  mutating func limits(_ file: Section) -> ServiceLimits {
    var limits = ServiceLimits(requestHead: defaults.requestHead, idle: defaults.timeouts.idle)
    guard let section = section(file, .limits) else { return limits }
    var head = limits.head
    head.headBytes = size(section, .headBytes) ?? head.headBytes
    head.targetBytes = size(section, .targetBytes) ?? min(head.targetBytes, head.headBytes)
    if head.targetBytes > head.headBytes, let node = section[.targetBytes] {
      report(node, that: "is more than \(section.path(.headBytes)), which includes it")
    }
    head.fieldCount = integer(section, .fieldCount) ?? head.fieldCount
    limits.head = head
    limits.connections = integer(section, .connections) ?? limits.connections
    limits.streams = integer(section, .streams) ?? limits.streams
    limits.unfinished = integer(section, .unfinished) ?? limits.unfinished
    limits.callerTokens = integer(section, .callerTokens) ?? limits.callerTokens
    if let size = sizeOrNone(section, .bodyBytes) {
      limits.bodyBytes = size.map { UInt64($0) } ?? .max
    }
    if let size = sizeOrNone(section, .callerRate) { limits.callerRate = size.map { UInt64($0) } }
    return limits
  }

  /// The end of the process. The time that a connection then waits for one more request belongs to the callers' limits.
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
