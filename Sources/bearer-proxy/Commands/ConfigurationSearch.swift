// Where the configuration is looked for if neither the command line nor the environment names it.

import Glibc

/// The usual places of a configuration, the first of which counts.
struct ConfigurationSearch {
  let places: [String]

  /// `$XDG_CONFIG_HOME` counts only as an absolute path (XDG Base Directory Specification).
  init(environment: [String: String]) {
    let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    let named = environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    let personal = (named ?? home.map { "\($0)/.config" }).map { "\($0)/bearer-proxy/proxy.yaml" }
    places = ["./proxy.yaml"] + [personal].compactMap(\.self) + ["/etc/bearer-proxy/proxy.yaml"]
  }

  /// The first file that is there. One of another user is an error: the working directory may be `/tmp`.
  /// - Parameter owner: finds the owner of a file; nil if there is none.
  func file(
    user: UInt32 = geteuid(), owner: (String) -> UInt32? = owner
  ) throws(UsageError) -> String {
    for place in places {
      guard let owner = owner(place) else { continue }
      if owner == user || owner == 0 { return place }
      throw .foreignConfiguration(place)
    }
    throw .noConfiguration(places)
  }
}

private func owner(_ path: String) -> UInt32? {
  var status = stat()
  return stat(path, &status) == 0 ? status.st_uid : nil
}
