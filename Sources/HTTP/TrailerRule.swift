// Owns which trailer fields are sent on. A field that steers framing, routing, authentication, caching or how content is
// to be processed is not one (RFC 9110 §6.5.1), whoever sent it: a recipient might merge it into the head.

/// The rule for trailer fields.
public enum TrailerRule {
  /// Whether the trailer field of this line may be forwarded.
  public static func forwards(_ line: FieldLine) -> Bool {
    switch line.known {
    // Names that no rule of ours mentions steer nothing on the way; `Server`, `Date` and `ETag` are computed late.
    case .other, .date, .eTag, .server, .authenticationInfo: true
    default: false
    }
  }
}
