// Feeds arbitrary texts to the reader of the shared cache. What must hold: nothing traps, a text that is no cache is
// said to be so at a place that exists, a cache that is written and read again is the same, and whatever is looked up,
// added or removed leaves one.

import Bytes
import HTTP
import Tokens

private let now = UnixTime(1_800_000_000)
private let authorities = [
  "https://login.microsoftonline.com/common", "https://login.windows.net/t", "https://id.example/realm",
].compactMap { try? Authority($0) }
private let scopes = try? ScopeSet(["a", "api://orders/Read"])

/// One input of libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCacheDocument(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let text = Array(UnsafeBufferPointer(start: data, count: count))
  do throws(CacheDocumentError) {
    let document = try CacheDocument(text: text)
    let written = document.text()
    precondition(written.allSatisfy { $0 < 0x80 }, "a text that is not ASCII")
    checkRead(written, document)
    exercise(document)
  } catch {
    guard case .text(let problem) = error else { return 0 }
    let lines = text.split(separator: 0x0A, omittingEmptySubsequences: false)
    precondition((1...lines.count).contains(problem.line), "line \(problem.line) of \(lines.count)")
    precondition((1...lines[problem.line - 1].count + 1).contains(problem.column), "column \(problem.column)")
  }
  return 0
}

private func checkRead(_ written: [UInt8], _ document: CacheDocument) {
  do throws(CacheDocumentError) {
    let again = try CacheDocument(text: written)
    precondition(again.text() == written, "a cache changes by being written")
    for section in CacheSection.allCases {
      precondition(again[section].keys == document[section].keys, "entries of \(section) come and go")
    }
  } catch {
    preconditionFailure("a cache that was written is no cache: \(error)")
  }
}

private func exercise(_ document: CacheDocument) {
  guard let scopes else { return }
  for authority in authorities {
    let accounts = document.accounts(authority: authority, clientID: "c")
    _ = document.accounts(authority: authority, clientID: "c", named: "a")
    for subject in [TokenSubject.application, .account(nil), .account("a")] {
      let key = AcquisitionKey(
        authority: authority, clientID: "c", credential: CredentialVersion(1), subject: subject, scopes: scopes,
        claims: nil)
      _ = document.lookup(for: key, realm: "t", now: now)
    }
    var changed = document
    for account in accounts {
      changed.removeAccount(home: account.homeAccountID, environments: ["id.example"], clientID: "c")
    }
    let query = CacheQuery(environments: ["id.example"], realm: "t", clientID: "c", homeAccountID: "h", isolation: nil)
    for held in changed.refreshTokens(query, family: "1") {
      changed.rotate(held, to: Secret("newer"), obtainedAt: now)
      changed.drop(held)
    }
    checkRead(changed.text(), changed)
  }
}
