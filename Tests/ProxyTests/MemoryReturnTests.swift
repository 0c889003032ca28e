import Testing

@testable import Proxy

@Suite struct MemoryReturnTests {
  private static let cases: [(looks: [(dropped: Int, open: Int, peak: Int)], due: [Bool])] = [
    // Nothing happens.
    ([(0, 0, 0), (0, 3, 3), (3, 3, 3)], [false, false, false]),
    // Loops have dropped buffers.
    ([(16, 1000, 1000), (0, 1000, 1000)], [true, false]),
    // A burst between two looks, and one that ended slowly.
    ([(0, 2, 5000), (0, 2, 2)], [true, false]),
    ([(0, 5000, 5000), (0, 3000, 5000), (0, 2400, 3000), (0, 2400, 2400)], [false, false, true, false]),
    // Connections come and go as ever.
    ([(0, 100, 180), (0, 150, 190), (0, 96, 190)], [false, false, false]),
    // A few are not worth it.
    ([(0, 0, 15), (0, 0, 0), (0, 0, 16)], [false, false, true]),
  ]

  @Test(arguments: cases)
  func `memory is given back after a burst, once`(_ row: (looks: [(dropped: Int, open: Int, peak: Int)], due: [Bool])) {
    var memory = MemoryReturn()
    #expect(row.looks.map { memory.isDue(dropped: $0.dropped, open: $0.open, peak: $0.peak) } == row.due)
  }
}
