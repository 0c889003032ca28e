// How often a complaint is answered.

import Bytes
import Testing
import Tokens

@Suite struct ComplaintMemoryTests {
  private let start = UnixTime(1_700_000_000)

  private func expect(
    _ memory: inout ComplaintMemory, _ complaint: Complaint, now: UnixTime, _ isAnswered: Bool = true,
    location: SourceLocation = #_sourceLocation
  ) {
    let answer = memory.admits(complaint, now: now)
    #expect(answer == isAnswered, sourceLocation: location)
  }

  @Test func `the same complaint is answered again after a pause that doubles while it keeps coming`() {
    var memory = ComplaintMemory()
    var answered: [Int64] = []
    for second in 0..<Int64(2000) where memory.admits(.invalidToken, now: start + second) { answered.append(second) }
    #expect(answered == [0, 5, 15, 35, 75, 155, 315, 635, 1275])
  }

  @Test func `the pause has a limit, and after a quiet time it is short again`() {
    var memory = ComplaintMemory()
    var answered: [Int64] = []
    for second in 0..<Int64(20_000) where memory.admits(.invalidToken, now: start + second) { answered.append(second) }
    #expect(zip(answered.dropFirst(), answered).map { $0 - $1 }.max() == ComplaintMemory.pauseLimit)
    expect(&memory, .invalidToken, now: start + 100_000)
    expect(&memory, .invalidToken, now: start + 100_004, false)
    expect(&memory, .invalidToken, now: start + 100_005)
  }

  @Test func `different complaints are answered each, up to a limit`() throws {
    var memory = ComplaintMemory()
    let complaints = try (0..<20).map { Complaint.claims(try Claims(json: #"{"n":\#($0)}"#)) }
    let answered = complaints.filter { memory.admits($0, now: start) }
    #expect(answered.count == ComplaintMemory.limit)
    #expect(memory.knows(complaints[15], now: start + 59))
    #expect(!memory.knows(complaints[15], now: start + 60))
    #expect(!memory.knows(complaints[16], now: start))
    expect(&memory, complaints[19], now: start + 59, false)
    expect(&memory, complaints[19], now: start + 60)
  }

  @Test func `a clock that is set back ends every pause`() {
    var memory = ComplaintMemory()
    expect(&memory, .invalidToken, now: start)
    expect(&memory, .invalidToken, now: start + 1, false)
    expect(&memory, .invalidToken, now: start + -10)
  }
}
