import Testing

@testable import HTTP2

@Suite struct TurnAllowanceTests {
  @Test(arguments: [(16_384, 1, 16), (16_384, 1638, 1), (10, 1, 512), (262_144, 0, 1), (0, 0, nil)])
  func `a turn ends after so many bytes or frames`(_ bytes: Int, _ frames: Int, _ looks: Int?) {
    var (allowance, count) = (TurnAllowance(), 0)
    while !allowance.isSpent, count < 10_000 {
      allowance.spend(bytes: bytes, frames: frames)
      count += 1
    }
    #expect(count == looks ?? 10_000)
  }

  @Test func `a session counts the frames of its peer, whatever they are`() {
    let fixture = CallerFixture()
    let before = fixture.session.frameCount
    fixture.feed(Frame.request(1, method: "POST", ends: false) + Frame.data(1, [1]) + Frame.data(1, [2]) + Frame.ping)
    fixture.feed(Frame.window(0, 1).dropLast())
    #expect(fixture.session.frameCount == before + 5)
  }
}
