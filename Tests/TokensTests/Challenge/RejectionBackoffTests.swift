import Bytes
import Testing
import Tokens

@Suite struct RejectionBackoffTests {
  private let start = UnixTime(1_700_000_000)

  private func expect(
    _ memory: inout RejectionBackoff, _ rejection: TokenRejection, now: UnixTime, _ isAnswered: Bool = true,
    location: SourceLocation = #_sourceLocation
  ) {
    let answer = memory.admits(rejection, now: now)
    #expect(answer == isAnswered, sourceLocation: location)
  }

  @Test func `the same rejection is answered again after a pause that doubles while it keeps coming`() {
    var memory = RejectionBackoff()
    var answered: [Int64] = []
    for second in 0..<Int64(2000) where memory.admits(.invalidToken, now: start + second) { answered.append(second) }
    #expect(answered == [0, 5, 15, 35, 75, 155, 315, 635, 1275])
  }

  @Test func `the pause has a limit, and after a quiet time it is short again`() {
    var memory = RejectionBackoff()
    var answered: [Int64] = []
    for second in 0..<Int64(20_000) where memory.admits(.invalidToken, now: start + second) { answered.append(second) }
    #expect(zip(answered.dropFirst(), answered).map { $0 - $1 }.max() == RejectionBackoff.pauseLimit)
    expect(&memory, .invalidToken, now: start + 100_000)
    expect(&memory, .invalidToken, now: start + 100_004, false)
    expect(&memory, .invalidToken, now: start + 100_005)
  }

  @Test func `different rejections are answered each, up to a limit`() throws {
    var memory = RejectionBackoff()
    let rejections = try (0..<20).map { TokenRejection.claims(try Claims(json: #"{"n":\#($0)}"#)) }
    let answered = rejections.filter { memory.admits($0, now: start) }
    #expect(answered.count == RejectionBackoff.limit)
    #expect(memory.knows(rejections[15], now: start + 59))
    #expect(!memory.knows(rejections[15], now: start + 60))
    #expect(!memory.knows(rejections[16], now: start))
    expect(&memory, rejections[19], now: start + 59, false)
    expect(&memory, rejections[19], now: start + 60)
  }

  @Test func `a clock that is set back ends every pause`() {
    var memory = RejectionBackoff()
    expect(&memory, .invalidToken, now: start)
    expect(&memory, .invalidToken, now: start + 1, false)
    expect(&memory, .invalidToken, now: start + -10)
  }
}
