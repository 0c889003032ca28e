// Owns whether everybody on the machine can read a file that holds a secret.

import Glibc

/// Finds the mode of a file that everybody can read; nil for one that not everybody can, or that is not there.
package typealias FindExposure = (_ path: String) -> UInt32?

/// The mode of a file that its bits, and those of every directory on the way to it, let everybody read.
func exposure(of path: String) -> UInt32? {
  guard let resolved = realpath(path, nil) else { return nil }
  defer { free(resolved) }
  var place = String(cString: resolved)
  guard let own = mode(of: place), own & S_IROTH != 0 else { return nil }
  while let slash = place.lastIndex(of: "/"), place != "/" {
    place = slash == place.startIndex ? "/" : String(place[..<slash])
    guard let directory = mode(of: place), directory & S_IXOTH != 0 else { return nil }
  }
  return own & 0o7777
}

private func mode(of path: String) -> UInt32? {
  var status = stat()
  return stat(path, &status) == 0 ? status.st_mode : nil
}
