// The order of deadlines on one loop. A waiter has one entry, possibly earlier than its deadline: a deadline that moves
// later costs nothing until the entry is due and is entered again.

/// A binary heap of waiters by instant. Each waiter knows its index, so it can leave.
struct TimerQueue {
  private var heap: [Waiter] = []

  /// The next instant at which `expire` has work.
  var next: MonotonicTime { heap.first?.timerKey ?? .distantFuture }

  /// Enters `waiter`, to be looked at no later than its deadline.
  @inline(__always)
  mutating func schedule(_ waiter: Waiter) {
    if waiter.deadline >= waiter.timerKey { return }
    file(waiter)
  }

  private mutating func file(_ waiter: Waiter) {
    waiter.timerKey = waiter.deadline
    if waiter.timerIndex < 0 {
      waiter.timerIndex = heap.count
      heap.append(waiter)
    }
    siftUp(waiter.timerIndex)
  }

  mutating func remove(_ waiter: Waiter) {
    let index = waiter.timerIndex
    guard index >= 0 else { return }
    waiter.timerIndex = -1
    waiter.timerKey = .distantFuture
    let last = heap.removeLast()
    if index == heap.count { return }
    place(last, at: index)
    siftUp(index)
    siftDown(last.timerIndex)
  }

  /// Wakes each waiter whose deadline has passed; enters the other due ones again.
  mutating func expire(_ now: MonotonicTime) -> Bool {
    var woke = false
    while let first = heap.first, first.timerKey <= now {
      remove(first)
      if first.deadline <= now {
        first.wake(.timedOut)
        woke = true
      } else if first.deadline < .distantFuture {
        file(first)
      }
    }
    return woke
  }

  private mutating func place(_ waiter: Waiter, at index: Int) {
    heap[index] = waiter
    waiter.timerIndex = index
  }

  private mutating func siftUp(_ start: Int) {
    var index = start
    let moving = heap[index]
    while index > 0 {
      let parent = (index - 1) / 2
      if heap[parent].timerKey <= moving.timerKey { break }
      place(heap[parent], at: index)
      index = parent
    }
    place(moving, at: index)
  }

  private mutating func siftDown(_ start: Int) {
    var index = start
    let moving = heap[index]
    while true {
      var child = index * 2 + 1
      if child >= heap.count { break }
      if child + 1 < heap.count, heap[child + 1].timerKey < heap[child].timerKey { child += 1 }
      if moving.timerKey <= heap[child].timerKey { break }
      place(heap[child], at: index)
      index = child
    }
    place(moving, at: index)
  }
}
