// The lock that every MSAL library takes before it writes a cache: a file that must not exist, and the kernel's lock on
// it. Libraries respect one or the other; this takes both.

package import Bytes
internal import CSystem
internal import Glibc

/// The state of a lock, seen without taking it.
package enum LockSight: Sendable, Hashable {
  case free
  /// A process holds it; nil if the file does not name it.
  case held(LockHolder?)
  /// A process ended while it held it.
  case abandoned
}

package struct LockFile: Sendable {
  private let place: FilePlace
  private let holder: LockHolder
  private let queue: FileQueue

  /// The lock file at a path, to be taken in this process's name. It is examined on `queue`.
  package init(path: String, name: String, queue: FileQueue) {
    place = FilePlace(path)
    holder = LockHolder(process: getpid(), name: name)
    self.queue = queue
  }

  /// Takes the lock, with an attempt about every 100 ms. A lock that a process left behind is taken over after 10 s.
  package func take(within limit: TimeSpan = .seconds(5)) async throws(FileError) -> HeldLockFile {
    let deadline = MonotonicTime.now + limit
    while true {
      switch await queue.run({ Result { () throws(SystemError) in try attempt() } }) {
      case .success(.taken(let held)): return held
      case .success(.busy(let holder)):
        if MonotonicTime.now >= deadline { throw .held(holder) }
      // Waiting would not help: it may stay.
      case .success(.obstructed(let owner)): throw .obstructed(name: place.name, owner: owner)
      case .failure(let error): throw .system(error)
      }
      // A cancelled task does not wait, so it must not try again either.
      do { try await Task.sleep(for: .milliseconds(Int.random(in: 50...150))) } catch { throw .held(nil) }
    }
  }

  /// Examines the lock, without making or removing a file. Another user's file is no lock: it is never waited for.
  /// Blocks for a moment.
  package func sight() -> LockSight {
    do throws(SystemError) {
      let directory = try Directory(place.directory)
      guard let found = try directory.identity(of: place.name), try !FileTrust.isObstructed(by: found, in: directory)
      else {
        return .free
      }
      return try examine(in: directory, removesAbandoned: false)
    } catch {
      // If the directory is gone, no process writes in it either.
      return .free
    }
  }

  private enum Attempt: Sendable {
    case taken(HeldLockFile)
    case busy(LockHolder?)
    case obstructed(owner: UInt32)
  }

  private func attempt() throws(SystemError) -> Attempt {
    let directory = try Directory(place.directory)
    if let found = try directory.identity(of: place.name) {
      if try FileTrust.isObstructed(by: found, in: directory) { return .obstructed(owner: found.owner) }
    } else if let held = try make(in: directory) {
      return .taken(held)
    }
    switch try examine(in: directory, removesAbandoned: true) {
    case .held(let holder): return .busy(holder)
    case .free, .abandoned: return try make(in: directory).map(Attempt.taken) ?? .busy(nil)
    }
  }

  /// Makes the file, complete and locked from its first moment if the file system supports that.
  private func make(in directory: borrowing Directory) throws(SystemError) -> HeldLockFile? {
    let unnamed = csystem_unnamed_file(directory.descriptor)
    guard unnamed >= 0 else { return try makeNamed(in: directory) }
    let held = HeldLockFile(place, unnamed)
    // Neither can fail because it is held: no other process has the file.
    guard flock(unnamed, LOCK_EX | LOCK_NB) == 0 else { throw SystemError("flock") }
    try sign(unnamed)
    try FileOwnership.hand(unnamed, over: directory)
    if csystem_name_file(unnamed, directory.descriptor, place.name) == 0 { return held }
    if errno == EEXIST { return nil }
    return try makeNamed(in: directory)
  }

  private func makeNamed(in directory: borrowing Directory) throws(SystemError) -> HeldLockFile? {
    let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let descriptor = openat(directory.descriptor, place.name, flags, 0o600)
    guard descriptor >= 0 else {
      if errno == EEXIST { return nil }
      throw SystemError("openat")
    }
    let held = HeldLockFile(place, descriptor)
    // A process that uses the kernel's lock may have opened the file before we lock it. It removes it when it is done.
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      held.abandon()
      return nil
    }
    guard try directory.identity(of: place.name)?.isSameFile(as: .of(descriptor)) == true else { return nil }
    try sign(descriptor)
    try FileOwnership.hand(descriptor, over: directory)
    return held
  }

  private func sign(_ descriptor: Int32) throws(SystemError) {
    let contents = holder.contents
    guard write(descriptor, contents, contents.count) == contents.count else { throw SystemError("write") }
  }

  /// The process in the way. `removesAbandoned` removes the file of a process that has ended.
  private func examine(
    in directory: borrowing Directory, removesAbandoned: Bool
  ) throws(SystemError) -> LockSight {
    let file: ReadableFile
    do throws(FileError) {
      file = try ReadableFile(place.name, in: directory.descriptor, flags: O_NOFOLLOW)
    } catch .system(let error) {
      switch error.number {
      case ENOENT: return .free
      case EACCES: return .held(nil)
      default: throw error
      }
    } catch {
      throw SystemError("open", EINVAL)
    }
    let (descriptor, identity) = (file.descriptor, file.identity)
    var contents = [UInt8](repeating: 0, count: 256)
    let count = read(descriptor, &contents, contents.count)
    let holder = LockHolder(contents[..<max(count, 0)])
    var stale = StaleLock(
      holder: holder, holderLives: holder?.lives ?? false, isUnlocked: true,
      age: identity.modified.age(at: WallTime.now),
      isLockedFromTheStart: holder?.name == self.holder.name && csystem_is_remote(directory.descriptor) == 0)
    guard stale.isProved else { return .held(holder) }
    // Another process that examines it must not remove it meanwhile: the lock on it is ours until it is gone.
    stale.isUnlocked = flock(descriptor, LOCK_EX | LOCK_NB) == 0
    guard stale.isProved else { return .held(holder) }
    if removesAbandoned { try directory.remove(place.name, ifStill: identity) }
    return .abandoned
  }
}

/// A lock file that this process holds. Released with the last reference at the latest.
package final class HeldLockFile: Sendable {
  private let place: FilePlace
  private let descriptor: Locked<Int32?>

  init(_ place: FilePlace, _ descriptor: Int32) {
    self.place = place
    self.descriptor = Locked(descriptor)
  }

  deinit {
    release()
  }

  /// Removes the file, if it is still ours, and releases the kernel's lock. Blocks for a moment.
  package func release() {
    guard let descriptor = take() else { return }
    defer { close(descriptor) }
    // A file that can no longer be removed stays; others will see that its process has ended.
    do throws(SystemError) {
      let directory = try Directory(place.directory)
      try directory.remove(place.name, ifStill: .of(descriptor))
    } catch {}
  }

  /// Leaves the file, which another process has locked.
  func abandon() {
    if let descriptor = take() { close(descriptor) }
  }

  private func take() -> Int32? {
    descriptor.withLock { descriptor in
      defer { descriptor = nil }
      return descriptor
    }
  }
}

/// The facts about a lock file that is in the way.
struct StaleLock: Sendable, Hashable {
  /// The process that it names; nil if it names none.
  var holder: LockHolder?
  /// True if that process lives. In another container's numbering it may, though it is not found: hence the other
  /// facts.
  var holderLives: Bool
  /// True if no process has the file itself locked.
  var isUnlocked: Bool
  /// Time since it was made.
  var age: TimeSpan
  /// True if its process locks the file before others can see it, as this program does if the file system lets it. Then
  /// an unlocked file is proof enough, without a wait for a killed process of ours.
  var isLockedFromTheStart = false

  /// Least age of a stale lock. No process holds one for longer than a second.
  static let leastAge = TimeSpan.seconds(10)

  /// True if it may be removed. A file without a process id was left between its making and its writing: every library
  /// writes its process id at once.
  var isProved: Bool {
    (holder == nil || !holderLives) && isUnlocked && (isLockedFromTheStart || Self.leastAge < age)
  }
}

/// The process that a lock file names: `PID NAME`, or the PID alone.
public struct LockHolder: Sendable, Hashable {
  /// Its process id.
  public var process: Int32
  /// The program; empty if the file does not name it.
  public var name: String

  /// A holder.
  public init(process: Int32, name: String) {
    self.process = process
    self.name = name
  }

  /// Reads a lock file's contents, bounded and without control characters; nil if they do not begin with a process id.
  init?(_ contents: some Collection<UInt8>) {
    let digits = contents.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard let process = Int32(String(decoding: digits, as: UTF8.self)), process > 0 else { return nil }
    self.process = process
    name = String(
      decoding: contents.dropFirst(digits.count).filter { $0 > 0x20 && $0 != 0x7F }.prefix(100), as: UTF8.self)
  }

  var contents: [UInt8] { Array("\(process) \(name)".utf8) }

  /// True if the process exists and has not ended. A zombie has ended.
  var lives: Bool {
    // Another user's process cannot be signalled, but exists.
    guard kill(process, 0) == 0 || errno != ESRCH else { return false }
    do throws(FileError) {
      // `PID (NAME) STATE …`; the name may have any characters.
      let text = try ReadableFile.contents(of: "/proc/\(process)/stat", limit: 4096)
      guard let bracket = text.lastIndex(of: UInt8(ascii: ")")), bracket + 2 < text.count else { return true }
      return text[bracket + 2] != UInt8(ascii: "Z")
    } catch {
      return true
    }
  }
}
