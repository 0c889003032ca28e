internal import Dispatch
internal import Glibc

/// A signal that is delivered as an event instead of ending the process.
/// `@unchecked Sendable`: the source is set in `init` and never changed after.
package final class ProcessSignal: @unchecked Sendable {
  /// The signals this code base handles.
  package struct Name: Sendable, Hashable {
    let number: Int32

    /// End in good order.
    package static let terminate = Name(number: SIGTERM)
    /// The same, from a terminal.
    package static let interrupt = Name(number: SIGINT)
    /// Read the configuration again.
    package static let hangUp = Name(number: SIGHUP)
    /// Open log files again.
    package static let userOne = Name(number: SIGUSR1)
    package static let userTwo = Name(number: SIGUSR2)
    /// For a program that this process started: some end in good order with these (nginx, Apache).
    package static let quit = Name(number: SIGQUIT)
    package static let windowChanged = Name(number: SIGWINCH)
    /// A program that this process started has ended.
    package static let childEnded = Name(number: SIGCHLD)
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
