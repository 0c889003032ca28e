// The settings of the process: given outside the file, or fixed until a restart.

import Bytes
import Configuration
import Platform
import Telemetry

extension Settings {
  /// The settings with what the command line and the environment say instead of the file.
  func overridden(by options: RunOptions) -> Settings {
    overridden(loops: options.loops, logLevel: options.logLevel, logFormat: options.logFormat)
  }

  /// The keys of changed settings that need a restart.
  func needingRestart(since first: Settings, _ options: RunOptions) -> [String] {
    var names: [String] = []
    if options.loops == nil, first.loops != loops { names.append("loops") }
    if first.admin?.address.value != admin?.address.value { names.append("admin") }
    if first.cache.isElsewhere(than: cache) || first.cacheKeys != cacheKeys { names.append("cache") }
    return names
  }
}
