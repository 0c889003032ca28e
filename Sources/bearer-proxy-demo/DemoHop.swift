// The two proxies of the tour that stand in a row, and call on in the names of their callers.

import Bytes
import DemoProvider
import FoundationEssentials
import Glibc

/// One of them.
struct DemoHop {
  /// What its files and its application are called.
  var name: String
  var client: String
  /// What it asks for in its callers' names, and where that is good.
  var scope: String
  var upstream: String

  var configuration: String { "\(name).yaml" }
  var log: String { "\(name).log" }

  /// The text of its configuration file. The system chooses the port.
  func text(issuer: String) -> String {
    """
    # Written by bearer-proxy-demo at every start: a proxy that calls on in the names of its callers.

    listeners:
      - address: 127.0.0.1:0
        # Callers bring a token for this proxy.
        callers:
          bearer: {authority: \(issuer), audiences: [\(client)], ca_file: \(DemoPlaces.authority)}
    cache: {memory: true}
    applications:
      \(name):
        authority: \(issuer)
        client_id: \(client)
        client_secret_file: client-secret
        tls: {ca_file: \(DemoPlaces.authority)}
    defaults:
      tls: {ca_file: \(DemoPlaces.authority)}
    # The next one gets a token in the caller's name, in exchange for what the caller brought.
    routes:
      - name: next
        path: /
        upstream: \(upstream)
        application: \(name)
        token: {as: caller, grant: on_behalf_of, scopes: ["\(scope)"]}

    """
  }

  /// Starts it; where it is, once it serves. Nil where it does not.
  func start(issuer: String) throws(DemonstrationError) -> (child: ChildProcess, origin: String)? {
    do {
      try Data(text(issuer: issuer).utf8).write(to: URL(filePath: configuration))
    } catch {
      throw .folder(configuration)
    }
    let child: ChildProcess
    do throws(SpawnError) {
      child = try ChildProcess([DemoPlaces.program, "run", "-c", configuration], .file(log))
    } catch {
      throw .spawn(error)
    }
    for _ in 0..<1500 where child.poll() == nil {
      let words = String(decoding: FileManager.default.contents(atPath: log) ?? Data(), as: UTF8.self)
      let address = words.between("\"message\":\"serving\",\"address\":\"", "\"")
      if let address { return (child, "http://\(address)") }
      usleep(20_000)
    }
    child.terminate()
    return nil
  }
}
