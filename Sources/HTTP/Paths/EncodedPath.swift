import Bytes

/// Characters that a path may hold in percent-encoding only if its route allows it. Each is valid (RFC 3986 §2.1), and
/// some servers read each as something else.
public struct EncodedPath: OptionSet, Sendable, Hashable {
  /// The bits.
  public let rawValue: UInt8

  /// A set of these bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// `%5C`, which some servers take for a slash.
  public static let backslash = EncodedPath(rawValue: 1)
  /// `%25` in front of the digits of a dot, slash or backslash, which servers that decode twice see.
  public static let percent = EncodedPath(rawValue: 2)
  /// `%09`, which some programs drop.
  public static let tab = EncodedPath(rawValue: 4)
  /// `%0A`, which ends a line if a program writes the decoded path.
  public static let lineFeed = EncodedPath(rawValue: 8)
  /// `%0D`, likewise.
  public static let carriageReturn = EncodedPath(rawValue: 16)

  /// Each by its name in configurations.
  package static let names: [(name: String, value: EncodedPath)] = [
    ("backslash", .backslash), ("percent", .percent), ("tab", .tab), ("line_feed", .lineFeed),
    ("carriage_return", .carriageReturn),
  ]

  func allows(control byte: UInt8) -> Bool {
    switch byte {
    case ASCII.tab: contains(.tab)
    case ASCII.lineFeed: contains(.lineFeed)
    case ASCII.carriageReturn: contains(.carriageReturn)
    default: false
    }
  }
}
