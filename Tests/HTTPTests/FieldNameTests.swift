import HTTP
import Testing

@Suite struct FieldNameTests {
  static let known = FieldName.allCases.filter { $0 != .other && $0 != .lookalike }

  private static func bytes(_ name: FieldName) -> [UInt8] { Array("\(name.text)".utf8) }

  @Test(arguments: known)
  func `every known name is found in any case`(name: FieldName) {
    let small = Self.bytes(name)
    let capital = Array("\(name.text)".uppercased().utf8)
    var mixed = small
    for index in stride(from: 0, to: mixed.count, by: 2) where mixed[index] >= 0x61 { mixed[index] -= 0x20 }
    #expect(FieldName(small.span) == name)
    #expect(FieldName(capital.span) == name)
    #expect(FieldName(mixed.span) == name)
  }

  @Test(arguments: known) func `the text of a name is that of its case`(name: FieldName) {
    #expect("\(name.text)".filter { $0 != "-" } == "\(name)".lowercased())
  }

  @Test(arguments: known)
  func `no neighbour of a known name is taken for it`(name: FieldName) {
    let spelt = Self.bytes(name)
    for index in spelt.indices {
      var other = spelt
      other[index] = other[index] == 0x78 ? 0x79 : 0x78
      let found = FieldName(other.span)
      #expect(found == .other || Self.bytes(found) == other)
      var shorter = spelt
      shorter.remove(at: index)
      let foundShorter = FieldName(shorter.span)
      #expect(foundShorter == .other || Self.bytes(foundShorter) == shorter)
    }
    let longer = spelt + [0x78]
    #expect(FieldName(longer.span) == .other)
  }

  @Test(arguments: known.filter { "\($0.text)".contains("-") })
  func `an underscore for any dash of a known name makes it a look-alike`(name: FieldName) {
    let spelt = Self.bytes(name)
    for index in spelt.indices where spelt[index] == 0x2D {
      var other = spelt
      other[index] = 0x5F
      #expect(FieldName(other.span) == .lookalike)
    }
    let all = spelt.map { $0 == 0x2D ? 0x5F : $0 }
    #expect(FieldName(all.span) == .lookalike)
  }

  @Test(
    arguments: [
      ("Content_Length", FieldName.lookalike), ("TRANSFER_ENCODING", .lookalike), ("x-forwarded_for", .lookalike),
      ("x_forwarded_for", .lookalike), ("content~length", .other), ("x_custom", .other), ("authorization_", .other),
      ("a", .other), ("", .other), ("x-forwarded-for-a-very-long-way", .other), ("_ost", .other),
    ])
  func `an underscore for a dash makes a known name a look-alike`(name: String, expected: FieldName) {
    let bytes = Array(name.utf8)
    #expect(FieldName(bytes.span) == expected)
  }

  @Test func `a set holds the names that were put in, and no other`() {
    for name in FieldName.allCases {
      let set = FieldNameSet(name)
      #expect(FieldName.allCases.filter(set.contains) == [name])
      #expect(FieldName.allCases.filter { set.intersects(FieldNameSet($0)) } == [name])
      #expect(FieldName.allCases.filter { set.isSubset(of: FieldNameSet($0)) } == [name])
      #expect(FieldNameSet().isSubset(of: set) && set.isSubset(of: set.with(.host)))
      #expect(set.with(.host).contains(.host) && set.with(.host).contains(name))
    }
    #expect(FieldName.allCases.allSatisfy { $0.rawValue < 128 })
  }
}
