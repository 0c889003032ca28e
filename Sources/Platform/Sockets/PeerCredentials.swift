// Owns who is at the other end of a unix socket.

internal import CSystem
internal import Glibc

/// The process that connected a unix socket, as it was when it did (unix(7), `SO_PEERCRED`).
public struct PeerCredentials: Sendable, Hashable {
  /// Its effective user id.
  public let user: UInt32
  /// Its effective group id.
  public let group: UInt32

  /// This process's own.
  public static var own: PeerCredentials { PeerCredentials(user: geteuid(), group: getegid()) }

  /// Credentials of these ids.
  public init(user: UInt32, group: UInt32) {
    self.user = user
    self.group = group
  }

  /// Who connected; nil where the socket is no unix socket.
  public init?(of channel: Channel) {
    var (user, group, process): (UInt32, UInt32, Int32) = (0, 0, 0)
    guard csystem_peer_credentials(channel.descriptor, &user, &group, &process) == 0 else { return nil }
    self.init(user: user, group: group)
  }
}
