// The shards that a process holds of a large cache, and places in an index.

import Bytes
import TestSupport
import Testing
import Tokens

@testable import Identity

@Suite struct WantedShardsTests {
  private func interest(_ name: String) throws -> CacheInterest {
    CacheInterest(
      .called(name), at: try Authority("https://\(SignedInPerson.environment)/\(SignedInPerson.tenant)"),
      clientID: SignedInPerson.client)
  }

  @Test func `an interest is known once readers see what was found, also if no one was found`() throws {
    var wanted = WantedShards()
    let (alice, bob) = (try interest("alice"), try interest("bob"))
    #expect(!wanted.knows(alice) && !wanted.knows(alice) && !wanted.knows(bob))
    #expect(Set(wanted.open(all: false).map(\.wish)) == [.interest(alice), .interest(bob)])
    wanted.fulfil(.interest(alice), with: ["a", "b"], isNew: true)
    wanted.fulfil(.interest(bob), with: [], isNew: true)
    #expect(!wanted.knows(alice) && !wanted.knows(bob))
    wanted.serve()
    #expect(wanted.knows(alice) && wanted.knows(bob) && wanted.names == ["a", "b"])
    #expect(wanted.open(all: false).isEmpty)
    #expect(wanted.open(all: true).first { $0.wish == .interest(alice) }?.names == ["a", "b"])
    wanted.want("c")
    #expect(wanted.open(all: false).map(\.wish) == [.shard("c")])
  }

  @Test func `what was not asked for lately is forgotten first`() throws {
    var wanted = WantedShards()
    for index in 0..<WantedShards.limit {
      #expect(!wanted.knows(try interest("p\(index)")))
      wanted.fulfil(.interest(try interest("p\(index)")), with: ["\(index)"], isNew: true)
    }
    wanted.serve()
    #expect(wanted.knows(try interest("p0")))
    // To look all up again is no use.
    for (wish, names) in wanted.open(all: true) { wanted.fulfil(wish, with: names ?? [], isNew: false) }
    wanted.want("new")
    #expect(wanted.names.contains("0") && !wanted.names.contains("1") && wanted.names.contains("2"))
  }

  @Test func `an index is taken in pages, each shard once, also if many have one version`() {
    let index = (0..<20).map { (name: "s\($0)", version: Int64($0 < 5 ? $0 : $0 < 15 ? 5 : $0)) }
    for size in [1, 2, 3, 7, 20, 30] {
      var place = IndexPlace()
      var taken: [String] = []
      while true {
        let next = index.filter { $0.version >= place.version ?? 0 }.prefix(place.taken.count + size)
        let new = place.move(behind: Array(next))
        if new.isEmpty { break }
        #expect(new.count <= size)
        taken += new.map(\.name)
      }
      #expect(taken == index.map(\.name), "\(size)")
    }
  }

  @Test func `names are numbers of 53 bits, and with a key other ones`() throws {
    let keys = [Secret([UInt8](repeating: 1, count: 32)), Secret([UInt8](repeating: 2, count: 32))]
    let (clear, one, both) = (CacheSeal.none, try CacheSeal([keys[0]]), try CacheSeal([keys[1], keys[0]]))
    let name = SearchName.called("Alice@Contoso.Example").text
    #expect(name == SearchName.called("alice@contoso.example").text)
    #expect(name != SearchName.user(of: "alice@contoso.example").text)
    let numbers = try [clear, one, both].map { try $0.numbers(of: name) }
    #expect(numbers.map(\.count) == [1, 1, 2] && Set(numbers.joined()).count == 3)
    #expect(numbers[2][1] == numbers[1][0])
    // A score of Redis is a double.
    #expect(numbers.joined().allSatisfy { UInt64(Double($0)) == $0 && $0 < 1 << 53 })
  }
}
