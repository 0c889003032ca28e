internal import Bytes

/// The beginner of sign-ins, by the connection: those of one caller make room for one another.
struct SignInCaller: Sendable, Hashable {
  private let text: String

  /// - Parameters:
  ///   - peer: the address of the connection's other end; empty for a unix socket.
  ///   - user: the user of its process, if that is on this machine and known.
  init(peer: String, user: UInt32?) {
    let address = IPAddress(peer.prefix { $0 != "%" })?.unmapped
    let place =
      // One machine has all addresses of such a network.
      if case .v6(let bytes) = address, address?.isLoopback == false {
        IPAddress.v6(Array(bytes.prefix(8)) + [UInt8](repeating: 0, count: 8)).description
      } else if address?.isLoopback == true || peer.isEmpty {
        "this machine"
      } else {
        address?.description ?? peer
      }
    text = user.map { "\(place) \($0)" } ?? place
  }
}
