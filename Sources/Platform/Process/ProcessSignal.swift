internal import Dispatch
internal import Glibc

/// A signal that is delivered as an event instead of ending the process.
/// `@unchecked Sendable`: the source is set in `init` and never changed after.
package final class ProcessSignal: @unchecked Sendable {
  /// The signals this code base handles.
  package enum Name: Sendable, Hashable {
    /// End in good order.
    case terminate
    /// The same, from a terminal.
    case interrupt
    /// Read the configuration again.
    case hangUp
    /// Open log files again.
    case userOne
    case userTwo
    /// For a program that this process started: some end in good order with these (nginx, Apache).
    case quit
    case windowChanged
    /// A program that this process started has ended.
    case childEnded

    var number: Int32 {
      switch self {
      case .terminate: SIGTERM
      case .interrupt: SIGINT
      case .hangUp: SIGHUP
      case .userOne: SIGUSR1
      case .userTwo: SIGUSR2
      case .quit: SIGQUIT
      case .windowChanged: SIGWINCH
      case .childEnded: SIGCHLD
      }
    }
  }

  private let source: any DispatchSourceSignal

  /// Calls `handler` on a Dispatch queue at each delivery, as long as the object lives.
  /// A signal after this has returned is delivered: `init` waits until Dispatch listens.
  package init(_ name: Name, handler: @escaping @Sendable () -> Void) {
    source = DispatchSource.makeSignalSource(signal: name.number, queue: .global())
    source.setEventHandler(handler: handler)
    let listening = DispatchSemaphore(value: 0)
    source.setRegistrationHandler { listening.signal() }
    source.activate()
    listening.wait()
  }

  deinit {
    source.cancel()
  }

  /// Makes writes to closed connections an error of the call instead of the end of the process.
  package static func ignoreBrokenPipes() {
    signal(SIGPIPE, SIG_IGN)
  }
}
