// Owns the counting of an application's credentials while the process runs: a token that was obtained with one that has been
// replaced is not served under the next.

import Configuration
import Tokens

/// Which credential of each application this is.
struct CredentialVersions {
  private struct Name: Hashable {
    var authority: Authority
    var clientID: String
  }

  private var known: [Name: (secret: Secret?, file: String?, version: CredentialVersion)] = [:]

  /// Counts on: a credential that is another one than before is the next.
  mutating func follow(_ applications: [ApplicationSettings]) {
    var seen: Set<Name> = []
    for application in applications {
      let name = Name(authority: application.authority.value, clientID: application.clientID)
      guard seen.insert(name).inserted else { continue }
      let file = application.clientAssertionFile?.value
      guard let (secret, path, version) = known[name] else {
        known[name] = (application.clientSecret, file, CredentialVersion(0))
        continue
      }
      if secret != application.clientSecret || path != file {
        known[name] = (application.clientSecret, file, CredentialVersion(version.number + 1))
      }
    }
  }

  /// The version of an application's credential.
  subscript(_ application: ApplicationSettings) -> CredentialVersion {
    known[Name(authority: application.authority.value, clientID: application.clientID)]?.version
      ?? CredentialVersion(0)
  }
}
