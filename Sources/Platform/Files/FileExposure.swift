// Owns whether everybody on the machine can read a file that holds a secret.

internal import Glibc

/// Who can read a file.
public enum FileExposure {
  /// The mode of a file that its bits, and those of every directory on the way to it, let everybody read; nil for one
  /// that not everybody can read, or that is not there.
  public static func mode(of path: String) -> UInt32? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    var place = String(cString: resolved)
    guard let own = bits(of: place), own & S_IROTH != 0 else { return nil }
    while let slash = place.lastIndex(of: "/"), place != "/" {
      place = slash == place.startIndex ? "/" : String(place[..<slash])
      guard let directory = bits(of: place), directory & S_IXOTH != 0 else { return nil }
    }
    return own & 0o7777
  }

  private static func bits(of path: String) -> UInt32? {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode : nil
  }
}
