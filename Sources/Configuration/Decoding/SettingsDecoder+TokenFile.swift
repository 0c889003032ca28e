extension SettingsDecoder {
  /// nil if there is none, or only together with an issue.
  mutating func tokenFile(_ route: Section, _ token: RouteToken?) -> TokenFileSettings? {
    guard let section = section(route, .tokenFile) else { return nil }
    let file = path(section, .path)
    let group = integer(section, .gid)
    let life = duration(section, .leastLife) ?? TokenFileSettings.usualLife
    let allowsDisk = boolean(section, .allowDisk)
    if let token, token.issued?.isCallers ?? true {
      return refuse(section, "the route has no token of its own that a file could have")
    }
    guard let file else { return nil }
    let directory = file.value.lastIndex(of: "/").map { String(file.value[...$0]) } ?? "."
    if files.isKept(directory) == true {
      if allowsDisk {
        warnings.append(file.issue("\(directory) is not in memory: tokens stay on the medium after they are removed"))
      } else {
        report(
          file,
          "\(directory) is not in memory, and would keep tokens that are removed: take a directory on tmpfs, such as "
            + "below /run, or set allow_disk: true")
      }
    }
    return TokenFileSettings(path: file, group: group.map { UInt32($0) }, leastLife: life)
  }
}
