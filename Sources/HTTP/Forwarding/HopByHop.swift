// The fields of a head that end at this hop (RFC 9110 §7.6.1). Fields that the proxy itself replaces (`Host`,
// `Authorization`, `Via`, the lengths) have their rules there.

/// The rule for fields about one connection.
public enum HopByHop {
  /// Names that end here, nominated or not: those of RFC 9110 §7.6.1, of the framing (which is written anew), of
  /// authentication to this proxy, and look-alikes of known names.
  @inlinable static var connectionNames: FieldNameSet {
    FieldNameSet(.connection).with(.keepAlive).with(.proxyConnection).with(.te).with(.transferEncoding).with(.upgrade)
      .with(.http2Settings).with(.proxyAuthenticate).with(.proxyAuthorization).with(.proxyAuthenticationInfo)
      .with(.lookalike)
  }

  /// True if a line of a head may be forwarded, given that head's `Connection`.
  ///
  /// Only names without a rule of ours can be dropped by nomination. `Connection: Authorization`, `Host`,
  /// `X-Forwarded-For` or `Content-Type` would otherwise let a caller remove fields that the upstream relies on; none
  /// of those is ever about one connection.
  @inlinable public static func forwards(
    _ line: FieldLine, _ options: borrowing ConnectionOptions, in bytes: Span<UInt8>
  ) -> Bool {
    if line.known == .other {
      if options.nominatedCount == 0 { return true }
      return !options.nominates(line.name, in: bytes)
    }
    return !connectionNames.contains(line.known)
  }

  /// True if the sender of this head accepts trailer fields. `TE` itself ends here; if this is true, the forwarded head
  /// has `TE: trailers` and nominates it (RFC 9110 §10.1.4). Other codings are never requested on another's behalf.
  public static func acceptsTrailers(_ fields: borrowing FieldTable, in bytes: Span<UInt8>) -> Bool {
    fields.contains(.te) && fields.lists(.te, trailers.span, in: bytes)
  }

  private static let trailers = Array("trailers".utf8)
}

/// The rule for trailer fields.
public enum TrailerRule {
  /// True if the trailer field of this line may be forwarded, given the nominations of its message's head.
  public static func forwards(_ line: FieldLine, _ nominations: Nominations?, in bytes: Span<UInt8>) -> Bool {
    switch line.known {
    // Names without a rule of ours control nothing on the way, unless the sender nominates them.
    case .other: nominations.map { !$0.contains(bytes.extracting(line.name)) } ?? true
    // Computed late.
    case .date, .eTag, .server, .authenticationInfo: true
    default: false
    }
  }
}
