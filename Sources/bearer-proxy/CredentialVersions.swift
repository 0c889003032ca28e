// Owns the counting of applications' credentials while the process runs: a token that was obtained with one that has been
// replaced is not served under the next, and of two applications with one client id and different credentials each asks with its own.

import Configuration
import Tokens

/// Which credential of each application this is.
struct CredentialVersions {
  private struct Identity: Hashable {
    var authority: Authority
    var clientID: String
  }

  private struct Known {
    var secret: Secret?
    var file: String?
    var version: CredentialVersion

    func isCredential(of application: ApplicationSettings) -> Bool {
      secret == application.clientSecret && file == application.clientAssertionFile?.value
    }
  }

  /// The credentials that are in use with a client id, or were when it was last there.
  private var known: [Identity: [Known]] = [:]
  private var counts: [Identity: UInt64] = [:]

  /// Counts on: a credential that is not in use yet is the next.
  mutating func follow(_ applications: [ApplicationSettings]) {
    for (identity, applications) in Dictionary(grouping: applications, by: Self.identity) {
      var current: [Known] = []
      for application in applications where !current.contains(where: { $0.isCredential(of: application) }) {
        if let same = known[identity]?.first(where: { $0.isCredential(of: application) }) {
          current.append(same)
          continue
        }
        let number = counts[identity, default: 0]
        counts[identity] = number + 1
        current.append(
          Known(
            secret: application.clientSecret, file: application.clientAssertionFile?.value,
            version: CredentialVersion(number)))
      }
      known[identity] = current
    }
  }

  /// The version of an application's credential.
  subscript(_ application: ApplicationSettings) -> CredentialVersion {
    known[Self.identity(application)]?.first { $0.isCredential(of: application) }?.version ?? CredentialVersion(0)
  }

  private static func identity(_ application: ApplicationSettings) -> Identity {
    Identity(authority: application.authority.value, clientID: application.clientID)
  }
}
