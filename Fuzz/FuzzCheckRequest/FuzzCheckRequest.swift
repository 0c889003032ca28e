// Feeds arbitrary messages to the reader of Envoy's question. What must hold: nothing traps, the head that a question
// becomes is one head or none, its path is the endpoint's with at most a name, and no field of the caller's is a
// report.

import Bytes
import HTTP
import Routing

/// One input of libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCheckRequest(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let message = Array(UnsafeBufferPointer(start: data, count: count))
  guard let question = try? CheckRequest(message[...]) else { return 0 }
  let kept = question.fields.reduce(0) { $0 + $1.name.count + $1.value.count }
  precondition(kept <= count, "more was read than there is")
  var head = ByteBuffer(capacity: 1024)
  let none: [UInt8] = []
  guard (try? question.writeHead(RequestHead(), none.span, limit: 2048, into: &head)) != nil else { return 0 }
  let bytes = head.withBytes { bytes in bytes.indices.map { bytes[$0] } }
  var parser = RequestHeadParser()
  var read = RequestHead()
  guard case .complete(let byteCount) = parser.parse(bytes.span, into: &read, limits: HeadLimits()) else { return 0 }
  precondition(byteCount == bytes.count, "bytes follow the head")
  precondition(read.method == .post && !read.target.hasQuery)
  precondition((try? BodyFraming.request(read, bytes.span)) == BodyFraming.none, "a question has content")
  switch HandOutPath(bytes.span.extracting(read.target.path)) {
  case .described: precondition(question.route == nil)
  case .named(let range): precondition(Int(range.count) == question.route?.count, "a part of the name was lost")
  case .ambiguous, nil: preconditionFailure("another path")
  }
  for index in 0..<read.fields.count {
    let name = bytes.span.extracting(read.fields[index].name)
    let isReport = name.count >= 9 && name.extracting(first: 9).equalsIgnoringCase("x-bearer-")
    precondition(!isReport, "the caller reports")
  }
  return 0
}
