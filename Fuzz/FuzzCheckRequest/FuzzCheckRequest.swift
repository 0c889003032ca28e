// Feeds arbitrary messages to the readers of Envoy's questions, of ext_authz and of ext_proc. What must hold: nothing
// traps, the head that a question becomes is one head or none, its path is the endpoint's with at most a name, and no
// field of the caller's is a report.

import Bytes
import HTTP
import Routing

/// One input of libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCheckRequest(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let message = Array(UnsafeBufferPointer(start: data, count: count))
  if let question = try? CheckRequest(message[...]) { judge(question, count) }
  switch try? ProcessingRequest(message[...]) {
  case .request(let head)?:
    judge(head.question, count)
    let (name, path) = (Array("orders".utf8), Array("/orders/".utf8))
    let question = head.question(
      of: name[...], host: name, path: path, upstreamPath: [ASCII.slash], credentialField: "Authorization")
    if let question { judge(question, count + path.count + 64) }
  case .response(let head)?:
    precondition(head.report(of: [], status: 401).count == head.challenges.count + 2)
  case .other, nil: break
  }
  return 0
}

private func judge(_ question: CheckRequest, _ count: Int) {
  let kept = question.fields.reduce(0) { $0 + $1.name.count + $1.value.count }
  precondition(kept <= count, "more was read than there is")
  var head = ByteBuffer(capacity: 1024)
  let none: [UInt8] = []
  guard (try? question.writeHead(RequestHead(), none.span, limit: 2048, into: &head)) != nil else { return }
  let bytes = head.withBytes { bytes in bytes.indices.map { bytes[$0] } }
  var parser = RequestHeadParser()
  var read = RequestHead()
  guard case .complete(let byteCount) = parser.parse(bytes.span, into: &read, limits: HeadLimits()) else { return }
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
}
