import Testing

@testable import HTTP2

@Suite struct TokenBucketTests {
  @Test func `gives its tokens and those that time brings`() {
    var bucket = TokenBucket(capacity: 3, perSecond: 2)
    let second: UInt64 = 1_000_000_000
    let first = (0..<4).map { _ in bucket.take(at: second) }
    #expect(first == [true, true, true, false])
    let (early, inTime) = (bucket.take(at: second + second / 4), bucket.take(at: second * 2))
    #expect(!early && inTime)
    let late = (0..<4).map { _ in bucket.take(at: second * 100) }
    #expect(late == [true, true, true, false])
    bucket.add(10)
    let paid = (0..<4).map { _ in bucket.take(at: second * 100) }
    #expect(paid == [true, true, true, false])
  }
}
