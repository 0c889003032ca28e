// When a configuration that was read is gone over to.

import Configuration
import TestSupport
import Testing

@testable import bearer_proxy

@Suite(.timeLimit(.minutes(1)))
struct ConfigurationReadingTests {
  @Test func `trying certificates again reloads only what that, or a changed file, has made new`() throws {
    let directory = try TemporaryDirectory()
    let file = directory.file("app.pem")
    try directory.write("first", to: "app.pem")
    let before = ConfigurationSource.State([file])
    try directory.write("another one", to: "app.pem")
    let after = ConfigurationSource.State([file])
    func isNews(_ reason: ReadingReason, _ state: ConfigurationSource.State, _ kept: Set<String>) -> Bool {
      ConfigurationSource.Reading(
        result: .failure(ConfigurationError([.init(Place.whole(file), "a mistake")])), state: state,
        keptCertificates: kept
      ).isNews(reason, since: before, ["a", "b"])
    }
    #expect(!isNews(.certificateRetry, before, ["a", "b"]))
    #expect(isNews(.certificateRetry, before, ["a"]))
    #expect(isNews(.certificateRetry, before, []))
    #expect(isNews(.certificateRetry, after, ["a", "b"]))
    #expect(isNews(.always, before, ["a", "b"]))
    #expect(isNews(.ifChanged, after, ["a", "b"]))
    #expect(!ConfigurationSource.Reading(result: nil, state: before).isNews(.ifChanged, since: before, []))
  }

  @Test func `of several reasons to read, the one that reads most counts`() {
    #expect(ReadingReason.ifChanged < .certificateRetry && .certificateRetry < ReadingReason.always)
  }
}
