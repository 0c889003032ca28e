// The `next` of log records whose cure depends on nothing. deploy/troubleshooting.md prints them, too.

/// The operator's next step after an event of the log.
package enum NextStep: String, CaseIterable, Sendable {
  case signInAgain = "sign in again: bearer-proxy check --live names the routes"
  case openFiles = "raise the limit of open files (LimitNOFILE, ulimit -n, fs.file-max), then restart"
  case restartAfterFailure = "restart the proxy; if it comes back, look at the memory and the kernel's log"
  case openFilesOrConnections = "raise the limit of open files (LimitNOFILE, ulimit -n), or lower limits.connections"
  case busyOpenFiles =
    "raise the limit of open files (LimitNOFILE, ulimit -n), or find in the access log who keeps connections busy"
  case busyConnections = "raise limits.connections, or find in the access log who keeps connections busy"
  case http2Abuse = "find out who calls from there; if its requests are right, set http2: false on the listener"
  case openFilesCount = "compare process_open_fds with process_max_fds among the metrics, and raise LimitNOFILE"
  case redirectURIs = "compare the redirect URIs of both applications' registrations"
  case challengeField = "compare the API's WWW-Authenticate field with RFC 9110, section 11.6.1"
  case boundCertificate = "register the certificate at the provider; it is tried again in a minute"
  case restart = "restart the proxy"
  case socketUnit = "add it to listeners, or remove it from the socket unit"
  case inheritedDescriptor = "remove it from the unit that starts the proxy"
  case redisUser = "compare the access policy of the server with the object id of the application"
  case oneSignal = "send one signal only, and wait for shutdown.limit"
  case accessFile = "let the proxy's user write to log.access_file, then send SIGUSR1"
  case accessSpace = "free space on the file system of log.access_file"
  case accessOutput =
    "look at what the access log is written to: bearer_proxy_log_lines_dropped_total counts what is lost"
  case signInRoutes = "bearer-proxy check --live names the routes that need a sign-in"
  case confinement = "allow the system calls landlock_* and prctl, or accept that the process is not confined"
  case adminRecord = "let the proxy write there, or leave it: 'status' then needs the configuration of the start"
  case tokenFile = "let the proxy make files in that directory, and give it the group if token_file names one"
  case telemetryVariable = "correct the variable, or remove it"
  case cryptography = "restart the proxy; look at OPENSSL_CONF"
  case earlyCertificate = "set the clock, or use the former certificate"
  case listenerCertificate = "replace certificate and key; the proxy takes new files over without a restart"
  case applicationCertificate = "replace it, and register the new one at the provider first"
  case clientCertificate = "replace certificate and key; the server that asks for it must know the new one first"
  case certificationAuthority = "add its successor to the file, then remove it"
  case collectorCertificate =
    "replace the certificate in the file and restart the proxy: the variable's file is read at the start"
}

extension LogValue {
  /// The value of `next`.
  package static func next(_ step: NextStep) -> LogValue { .string(step.rawValue) }
}
