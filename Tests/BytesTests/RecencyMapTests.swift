import Testing

@testable import Bytes

@Suite struct RecencyMapTests {
  @Test func `of too many entries the one that was not used for longest goes`() {
    var map = RecencyMap<Int, String>(limit: 3)
    for number in 1...3 { #expect(map.keep("\(number)", for: number) == nil) }
    #expect(map.use(1) == "1")
    #expect(map.keep("4", for: 4) == 2)
    #expect(map.use(2) == nil)
    // A new value for a known key needs no room.
    #expect(map.keep("three", for: 3) == nil)
    #expect(map.keep("5", for: 5) == 1)
    #expect(map.use(3) == "three")
    #expect(map.count == 3)
    map.remove(4)
    map.remove(4)
    #expect(map.keep("6", for: 6) == nil)
    #expect([map.removeOldest(), map.removeOldest(), map.removeOldest(), map.removeOldest()] == [5, 3, 6, nil])
    #expect(map.count == 0)
  }

  @Test func `whatever happens, it holds what a plain list of uses says`() {
    var generator = SystemRandomNumberGenerator()
    var map = RecencyMap<Int, Int>(limit: 8)
    // The oldest first.
    var model: [(key: Int, value: Int)] = []
    for step in 0..<20_000 {
      let key = Int.random(in: 0..<24, using: &generator)
      let known = model.firstIndex { $0.key == key }
      switch Int.random(in: 0..<4, using: &generator) {
      case 0:
        map.remove(key)
        if let known { model.remove(at: known) }
      case 1:
        #expect(map.use(key) == known.map { model[$0].value })
        if let known { model.append(model.remove(at: known)) }
      default:
        if let known { model.remove(at: known) }
        let evicted = model.count == 8 ? model.removeFirst().key : nil
        #expect(map.keep(step, for: key) == evicted)
        model.append((key, step))
      }
      #expect(map.count == model.count)
    }
  }

  @Test func `a digest is its bytes`() {
    let bytes = (0..<32).map { UInt8($0) * 7 }
    #expect(Digest256(bytes.span).bytes == bytes)
    #expect(Digest256(bytes.span) == Digest256(bytes.span))
    #expect(Digest256(bytes.span) != Digest256(Array(bytes.reversed()).span))
  }
}
