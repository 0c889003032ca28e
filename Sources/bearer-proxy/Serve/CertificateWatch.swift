// When the log reports that a certificate ends: at the start, after a reload, and when 30 or 7 days or none are left.

import Bytes
import Platform
import Proxy
import Telemetry
import Tokens

/// The reported states of certificates. A value: time comes from outside.
struct CertificateReminders {
  private var told: [WatchedCertificate: CertificateValidity.State] = [:]

  /// The certificates that are in a worse state than at the last look.
  mutating func due(
    _ certificates: [WatchedCertificate], now: UnixTime
  ) -> [(certificate: WatchedCertificate, state: CertificateValidity.State)] {
    let due = certificates.map { ($0, $0.validity.state(at: now)) }.filter { certificate, state in
      state > told[certificate] ?? .valid
    }
    told = Dictionary(certificates.map { ($0, $0.validity.state(at: now)) }) { first, _ in first }
    return due
  }
}

/// Looks at certificates now and once an hour, as long as it lives.
final class CertificateWatch {
  private let task: Task<Void, Never>

  init(_ certificates: [WatchedCertificate], log: Log) {
    task = Task {
      var reminders = CertificateReminders()
      while !certificates.isEmpty {
        for (certificate, state) in reminders.due(certificates, now: .now) { log.write(certificate, state, now: .now) }
        // An hour, however often the clock is set meanwhile.
        do { try await Task.sleep(for: .seconds(3600)) } catch { return }
      }
    }
  }

  deinit {
    task.cancel()
  }
}

extension Log {
  fileprivate func write(_ certificate: WatchedCertificate, _ state: CertificateValidity.State, now: UnixTime) {
    let validity = certificate.validity
    var fields: KeyValuePairs<StaticString, LogValue> {
      [
        "certificate": .string(certificate.name), "file": .string(certificate.file),
        "thumbprint": .string(certificate.thumbprint),
        "ends": .integer(Int(clamping: validity.notAfter.seconds)), "next": .next(certificate.cure(at: now)),
      ]
    }
    switch state {
    case .valid: break
    case .endsSoon: warning("a certificate ends within 30 days", fields)
    case .endsVerySoon: warning("a certificate ends within 7 days", fields)
    case .notYetValid: warning("a certificate is not valid yet", fields)
    case .expired: error("a certificate has ended", fields)
    }
  }
}
