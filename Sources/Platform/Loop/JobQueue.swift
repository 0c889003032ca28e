/// A first-in-first-out ring of jobs that allocates only to grow.
struct JobQueue {
  private var ring: [UnownedJob?] = Array(repeating: nil, count: 64)
  private var head = 0
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  @inline(__always)
  mutating func append(_ job: UnownedJob) {
    if count == ring.count { grow() }
    ring[(head + count) & (ring.count - 1)] = job
    count += 1
  }

  @inline(__always)
  mutating func popFirst() -> UnownedJob? {
    if count == 0 { return nil }
    let job = ring[head]
    head = (head + 1) & (ring.count - 1)
    count -= 1
    return job
  }

  private mutating func grow() {
    var grown: [UnownedJob?] = []
    grown.reserveCapacity(ring.count * 2)
    for offset in 0..<count { grown.append(ring[(head + offset) & (ring.count - 1)]) }
    grown.append(contentsOf: repeatElement(nil, count: ring.count * 2 - count))
    ring = grown
    head = 0
  }
}
