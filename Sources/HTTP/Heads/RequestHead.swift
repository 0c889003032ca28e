// Owns what a request head says, as places in the bytes it was read from. `RequestHeadParser` fills it in.

/// The head of a request. Every range counts from the first byte that the parser was given.
public struct RequestHead: ~Copyable {
  /// The method.
  public internal(set) var method = RequestMethod.get
  /// The method as spelt.
  public internal(set) var methodName = ByteRange()
  /// The target.
  public internal(set) var target = RequestTarget()
  /// The version.
  public internal(set) var version = HTTPVersion.http11
  /// `host[:port]` that the request is for: the target's where it has one, else the `Host` field's. Empty in an
  /// HTTP/1.0 request without `Host`; a valid `HostName` in all others.
  public internal(set) var authority = ByteRange()
  /// What `Connection` says.
  public internal(set) var connection = ConnectionOptions()
  /// The field lines.
  public internal(set) var fields: FieldTable

  init(fieldCapacity: Int) {
    fields = FieldTable(capacity: fieldCapacity)
  }
}
