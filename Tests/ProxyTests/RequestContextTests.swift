// Memory that is lent: it comes without a trace of the request before.

import Bytes
import HTTP
import Platform
import Telemetry
import Testing

@testable import Proxy

@Suite struct RequestContextTests {
  @Test func `a request that is lent again knows nothing of the one before`() throws {
    var requests = FreeList<RequestContext>()
    let request = requests.take(HeadLimits())
    request.path.append("/x")
    request.identity.append("id")
    request.replay.append("content")
    request.record.status = 401
    request.whole = MonotonicTime(nanoseconds: 1)
    request.route = try Route("/a/")
    request.corsOrigin = ByteRange(from: 1, to: 2)
    request.returnTo = "/a/"
    request.slot = 1
    requests.giveBack(request)
    let next = requests.take(HeadLimits())
    #expect(next === request)
    #expect(next.path.isEmpty && next.identity.isEmpty && next.replay.isEmpty && next.headBytes.isEmpty)
    #expect(next.record == AccessRecord() && next.whole == .distantFuture && next.route == nil)
    #expect(next.corsOrigin.isEmpty && next.returnTo == nil && next.slot == nil)
    #expect(next.callerToken == nil && next.trace == nil)
  }
}
