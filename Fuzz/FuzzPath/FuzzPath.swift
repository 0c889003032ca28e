// Feeds arbitrary paths to the rule of the one normal form. What must hold: its properties (PathOutcome), and that
// whatever is forwarded below a route's prefix is below that prefix for every reader, however often it decodes.

import HTTP

private let prefixes = ["/", "/a/", "/a/b/", "/a;x/", "/%C3%A9/"].map { Array($0.utf8) }

/// One input of libFuzzer: the text behind the slash.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPath(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let path = [0x2F] + Array(UnsafeBufferPointer(start: data, count: count))
  guard let form = PathOutcome.normal(path.span) else { return 0 }
  for prefix in prefixes where form.starts(with: prefix) {
    guard NormalPath.staysBelow(form.span.extracting(droppingFirst: prefix.count)) else { continue }
    var depth = 0
    let whole = PathOutcome.eagerSegments(prefix)
    for segment in PathOutcome.eagerSegments(form).dropFirst(whole.count) {
      depth += segment == [0x2E, 0x2E] ? -1 : 1
      precondition(depth >= 0, "a path climbs out of its route")
    }
    precondition(PathOutcome.eagerSegments(form).starts(with: whole), "a path leads to another route")
  }
  return 0
}
