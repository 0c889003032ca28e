// Owns which trailer fields are sent on. A field that steers framing, routing, authentication, caching or how content
// is to be processed is never sent on (RFC 9110 §6.5.1): a recipient might merge it into the head.

/// The rule for trailer fields.
public enum TrailerRule {
  /// Whether the trailer field of this line may be forwarded, given what the head of its message nominated.
  public static func forwards(_ line: FieldLine, _ nominations: Nominations?, in bytes: Span<UInt8>) -> Bool {
    switch line.known {
    // Names that no rule of ours mentions steer nothing on the way, unless the sender says that they are about the
    // connection.
    case .other: nominations.map { !$0.contains(bytes.extracting(line.name)) } ?? true
    // Computed late.
    case .date, .eTag, .server, .authenticationInfo: true
    default: false
    }
  }
}
