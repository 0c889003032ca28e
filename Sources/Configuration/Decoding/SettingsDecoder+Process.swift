// Owns what the small sections mean: log, limits, shutdown.

internal import Telemetry

extension SettingsDecoder {
  mutating func log(_ file: Section) -> LogSettings {
    var log = LogSettings()
    guard let section = section(file, .log) else { return log }
    log.level = choice(section, .level, of: LogLevel.self) ?? log.level
    log.format = choice(section, .format, of: LogFormat.self) ?? log.format
    log.access = boolean(section, .access) ?? log.access
    log.accessFile = path(section, .accessFile)
    return log
  }

  mutating func limits(_ file: Section) -> Limits {
    var limits = Limits()
    guard let section = section(file, .limits) else { return limits }
    limits.headBytes = size(section, .headBytes, in: (4 << 10)...(1 << 20)) ?? limits.headBytes
    limits.targetBytes = size(section, .targetBytes, in: (1 << 10)...(1 << 20)) ?? min(8 << 10, limits.headBytes)
    if limits.targetBytes > limits.headBytes, let node = section[.targetBytes] {
      report(node.place, "\(section.path(.targetBytes)) is more than \(section.path(.headBytes)), which includes it")
    }
    limits.fieldCount = integer(section, .fieldCount, in: 10...1000) ?? limits.fieldCount
    limits.connections = integer(section, .connections, in: 1...1_000_000) ?? limits.connections
    limits.unfinished = integer(section, .unfinished, in: 1...1_000_000) ?? limits.unfinished
    limits.bodyBytes = sizeOrNone(section, .bodyBytes, in: 0...(1 << 50)) ?? limits.bodyBytes
    limits.callerRate = sizeOrNone(section, .callerRate, in: 1...(1 << 30)) ?? limits.callerRate
    return limits
  }

  mutating func shutdown(_ file: Section) -> ShutdownSettings {
    var shutdown = ShutdownSettings()
    guard let section = section(file, .shutdown) else { return shutdown }
    shutdown.limit = duration(section, .limit) ?? shutdown.limit
    shutdown.delay = durationOrNone(section, .delay)?.map { $0 } ?? shutdown.delay
    shutdown.grace = duration(section, .grace) ?? shutdown.grace
    if shutdown.delay >= shutdown.limit, let node = section[.delay] ?? section[.limit] {
      report(node.place, "\(section.path(.delay)) is shorter than \(section.path(.limit)), which includes it")
    }
    return shutdown
  }
}
