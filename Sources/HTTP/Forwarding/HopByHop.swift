// Which fields of a head end at this hop (RFC 9110 §7.6.1). Fields that the proxy itself replaces on the way through
// (`Host`, `Authorization`, `Via`, the lengths) are decided where it replaces them.

/// The rule for fields that speak about one connection.
public enum HopByHop {
  /// Names that end here, nominated or not: those of RFC 9110 §7.6.1, of the framing (which is written anew), of
  /// authentication to this proxy, and look-alikes of known names.
  @inlinable static var connectionNames: FieldNameSet {
    FieldNameSet(.connection).with(.keepAlive).with(.proxyConnection).with(.te).with(.transferEncoding).with(.upgrade)
      .with(.http2Settings).with(.proxyAuthenticate).with(.proxyAuthorization).with(.proxyAuthenticationInfo)
      .with(.lookalike)
  }

  /// Whether a line of a head may be forwarded, given that head's `Connection`.
  ///
  /// Only names that no rule of ours knows can be dropped by nomination. `Connection: Authorization`, `Host`,
  /// `X-Forwarded-For` or `Content-Type` would otherwise let a caller take away fields that the upstream relies on;
  /// none of those is ever about one connection.
  @inlinable public static func forwards(
    _ line: FieldLine, _ options: borrowing ConnectionOptions, in bytes: Span<UInt8>
  ) -> Bool {
    if line.known == .other {
      if options.nominatedCount == 0 { return true }
      return !options.nominates(line.name, in: bytes)
    }
    return !connectionNames.contains(line.known)
  }

  /// Whether the sender of this head takes trailer fields. `TE` itself ends here; where this holds, the forwarded head
  /// says `TE: trailers` and nominates it (RFC 9110 §10.1.4). Other codings are never asked for on another's behalf.
  public static func acceptsTrailers(_ fields: borrowing FieldTable, in bytes: Span<UInt8>) -> Bool {
    var next = fields.index(of: .te)
    while let line = next {
      var elements = ListElements(bytes, fields[line].value)
      while let element = elements.next() {
        if bytes.extracting(element).equalsIgnoringCase("trailers") { return true }
      }
      next = fields.index(of: .te, from: line + 1)
    }
    return false
  }
}

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
