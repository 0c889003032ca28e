// Through which proxy a URL is reached: the one that the configuration names, or the environment's, by the rules that
// curl and Go share.

internal import Bytes
package import HTTP

package enum ProxyChoice: Sendable, Hashable {
  /// Directly.
  case none
  /// Through this proxy, whatever the host.
  case fixed(ProxyAddress)
  /// As the environment says.
  case environment(ProxyEnvironment)

  /// The proxy on the way to a URL; nil is none.
  package func proxy(for url: HTTPURL) -> ProxyAddress? {
    switch self {
    case .none: nil
    case .fixed(let address): address
    case .environment(let environment): environment.proxy(for: url)
    }
  }
}

/// `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`. If a name is set in both cases, the lower one counts.
package struct ProxyEnvironment: Sendable, Hashable {
  private(set) var https: ProxyAddress?
  private(set) var http: ProxyAddress?
  private var exceptions: [Exception] = []
  private var excludesAll = false

  /// A host that is reached directly.
  fileprivate enum Exception: Hashable {
    /// This domain, and what is below it unless only the other is meant: `example.com` is both, `.example.com` only
    /// what is below.
    case domain(String, includesItself: Bool, port: UInt16?)
    /// Addresses whose first bits are these.
    case network([UInt8], bits: Int, port: UInt16?)
  }

  /// Reads an environment. `report` hears of a variable that names no usable proxy, and why.
  package init(_ environment: [String: String], report: (_ variable: String, _ reason: String) -> Void) {
    func read(_ names: [String]) -> ProxyAddress? {
      guard let name = names.first(where: { environment[$0]?.isEmpty == false }), let text = environment[name] else {
        return nil
      }
      do throws(UnusableText) {
        var address = try ProxyAddress(text)
        address.variable = name
        return address
      } catch {
        report(name, error.reason)
        return nil
      }
    }
    https = read(["https_proxy", "HTTPS_PROXY"])
    // A web server hands a request's field "Proxy" to a CGI program as HTTP_PROXY: what a caller says, not what the
    // operator does.
    http = read(environment["REQUEST_METHOD"] == nil ? ["http_proxy", "HTTP_PROXY"] : ["http_proxy"])
    let list = environment["no_proxy"].flatMap { $0.isEmpty ? nil : $0 } ?? environment["NO_PROXY"] ?? ""
    for word in list.split(whereSeparator: { $0 == "," || $0 == " " }).map({ $0.lowercased() }) {
      if word == "*" { excludesAll = true } else if let exception = Exception(word) { exceptions.append(exception) }
    }
  }

  /// The proxy on the way to a URL. This machine is never reached through one.
  package func proxy(for url: HTTPURL) -> ProxyAddress? {
    guard let proxy = url.scheme == .https ? https : http, !excludesAll, !url.isLoopback else { return nil }
    return exceptions.contains { $0.covers(url) } ? nil : proxy
  }
}

extension ProxyEnvironment.Exception {
  fileprivate init?(_ word: String) {
    if let slash = word.lastIndex(of: "/") {
      guard let bytes = IPAddress(word[..<slash])?.unmapped.bytes, let bits = Int(word[word.index(after: slash)...]),
        (0...bytes.count * 8).contains(bits)
      else { return nil }
      self = .network(bytes, bits: bits, port: nil)
      return
    }
    var host = word[...]
    var port: UInt16?
    if IPAddress(word) == nil, let colon = word.lastIndex(of: ":"),
      let number = UInt16(word[word.index(after: colon)...])
    {
      port = number
      host = word[..<colon]
    }
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    if let bytes = IPAddress(host)?.unmapped.bytes {
      self = .network(bytes, bits: bytes.count * 8, port: port)
      return
    }
    if host.hasPrefix("*.") { host = host.dropFirst() }
    let includesItself = !host.hasPrefix(".")
    let name = host.drop { $0 == "." }
    if name.isEmpty { return nil }
    self = .domain(String(name), includesItself: includesItself, port: port)
  }

  fileprivate func covers(_ url: HTTPURL) -> Bool {
    let host = url.host.hasSuffix(".") ? String(url.host.dropLast()) : url.host
    switch self {
    case .domain(let name, let includesItself, let port):
      return (port.map { $0 == url.port } ?? true) && ((includesItself && host == name) || host.hasSuffix("." + name))
    case .network(let network, let bits, let port):
      guard port.map({ $0 == url.port }) ?? true, let bytes = IPAddress(host)?.unmapped.bytes,
        bytes.count == network.count
      else {
        return false
      }
      for bit in 0..<bits {
        let mask: UInt8 = 0x80 >> UInt8(bit % 8)
        if bytes[bit / 8] & mask != network[bit / 8] & mask { return false }
      }
      return true
    }
  }
}
