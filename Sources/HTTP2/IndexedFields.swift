// The fields that tables of HPACK may keep behind this hop. We keep none: a connection to an upstream would have one
// table for all callers, and by the size of a field that it sends, a caller could learn that another one has sent the
// same. What no table keeps cannot be guessed (RFC 7541 §7.1), and who sends it on has to keep it out of tables, too.

internal import Bytes
internal import HTTP

/// The rule for the tables of those who send fields on.
enum IndexedFields {
  /// Fields about software, formats and the proxy itself: many messages have them alike, and none is a secret.
  private static let known = FieldNameSet(.accept).with(.acceptEncoding).with(.acceptLanguage).with(.cacheControl)
    .with(.pragma).with(.contentType).with(.contentEncoding).with(.userAgent).with(.via).with(.cdnLoop)
    .with(.xForwardedProto).with(.xForwardedHost).with(.xForwardedPort).with(.secFetchSite).with(.secFetchMode)
    .with(.secFetchDest).with(.upgradeInsecureRequests).with(.te).with(.date).with(.server).with(.vary).with(.allow)

  private static let others: [StaticString] = [
    "grpc-encoding", "grpc-accept-encoding", "grpc-status", "accept-ranges", "access-control-allow-origin",
    "access-control-expose-headers", "content-language", "referrer-policy", "x-content-type-options",
    "x-frame-options",
  ]

  /// True if tables may keep a line of this name; every other is sent as never indexed (RFC 7541 §6.2.3). The names
  /// of secrets are not known here: keys of APIs, and the fields that a route sets.
  static func contain(_ name: FieldName, _ bytes: Span<UInt8>) -> Bool {
    if name != .other { return known.contains(name) }
    for text in others where text.utf8CodeUnitCount == bytes.count && bytes.equalsIgnoringCase(text) { return true }
    return false
  }
}
