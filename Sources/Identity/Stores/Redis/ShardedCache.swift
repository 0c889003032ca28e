internal import Tokens

struct ShardWrite: Sendable {
  var name: String
  /// The version that it must still have; 0: it does not exist.
  var expected: Int64
  /// The new text; an empty one removes it.
  var text: [UInt8]
  /// The entries that remain in it.
  var places: Set<CachePlace>
  var names: Set<SearchName>
}

extension ShardWrite {
  /// The write of some of a document's entries. No other library reads them, so the text is compact.
  fileprivate init(_ name: String, expected: Int64, _ places: Set<CachePlace>, of document: CacheDocument) {
    self.init(
      name: name, expected: expected, text: places.isEmpty ? [] : document.extract(places).text(.compact),
      places: places, names: document.names(of: places))
  }
}

/// The shards as last seen, together one document.
struct ShardedCache: Sendable {
  private struct Shard {
    var version: Int64
    var places: Set<CachePlace>
  }

  /// The entries of all shards.
  private(set) var document = CacheDocument()
  private var shards: [String: Shard] = [:]

  var names: [String] { Array(shards.keys) }

  var count: Int { shards.count }

  /// The version of a shard; 0 if there is none.
  func version(of name: String) -> Int64 { shards[name]?.version ?? 0 }

  /// Records a shard's present contents.
  mutating func take(_ name: String, version: Int64, text: [UInt8]) throws(CacheDocumentError) {
    let new = try CacheDocument(text: text)
    let places = Set(new.places)
    for place in shards[name]?.places ?? [] where !places.contains(place) { document.replace(place, with: nil) }
    for place in places { document.replace(place, with: new[place]) }
    shards[name] = Shard(version: version, places: places)
  }

  /// Takes over those entries of a shard's text that are not here, or are older here.
  mutating func merge(_ name: String, text: [UInt8]) throws(CacheDocumentError) {
    let theirs = try CacheDocument(text: text)
    for place in theirs.places {
      guard let entry = theirs[place] else { continue }
      if let ours = document[place], ours.time >= entry.time { continue }
      document.replace(place, with: entry)
      shards[name]?.places.insert(place)
    }
  }

  /// Records that a shard is gone.
  mutating func remove(_ name: String) {
    for place in shards.removeValue(forKey: name)?.places ?? [] { document.replace(place, with: nil) }
  }

  /// The writes that make the document the result of `change`, and that document. Shards without a difference are not
  /// written; those that are not wanted do not change.
  func writes(
    for change: (inout CacheDocument) -> Void, where isWanted: (String) -> Bool = { _ in true }
  ) -> (writes: [ShardWrite], document: CacheDocument) {
    var next = document
    next.noteChanges()
    change(&next)
    var places: [String: Set<CachePlace>] = [:]
    for place in next.takeNotedChanges() {
      let (old, new) = (document[place], next[place])
      if old == new { continue }
      guard [old, new].compactMap({ $0.map(CacheDocument.shard) }).allSatisfy(isWanted) else {
        next.replace(place, with: old)
        continue
      }
      if let old {
        let name = CacheDocument.shard(of: old)
        places[name, default: shards[name]?.places ?? []].remove(place)
      }
      if let new {
        let name = CacheDocument.shard(of: new)
        places[name, default: shards[name]?.places ?? []].insert(place)
      }
    }
    let writes = places.sorted { $0.key < $1.key }.map { name, places in
      ShardWrite(name, expected: version(of: name), places, of: next)
    }
    return (writes, next)
  }

  /// Records the document that writes have made.
  mutating func commit(_ document: CacheDocument) { self.document = document }

  /// The write that restores a shard that the server has lost, or has at an older version.
  func restoring(_ name: String, held version: Int64) -> ShardWrite {
    ShardWrite(name, expected: version, shards[name]?.places ?? [], of: document)
  }

  /// The home account ids in a shard: one, if it is a person's.
  func homes(in name: String) -> Set<String> {
    Set((shards[name]?.places ?? []).compactMap { document[$0]?["home_account_id"] }.filter { !$0.isEmpty })
  }

  /// Records that shards are there as they are here, at a version; 0 has them read again.
  mutating func settle(_ writes: [ShardWrite], version: Int64) {
    for write in writes {
      shards[write.name] = write.text.isEmpty ? nil : Shard(version: version, places: write.places)
    }
  }
}
