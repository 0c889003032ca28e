// nginx as an upstream: a web server we did not write, which tells what it received.

import Glibc

/// nginx on a plain and a TLS port of 127.0.0.1. `/echo…` answers with what it received, one `name=value` line per
/// field; `/files/1k`, `/files/64k` and `/files/1m` are files; `PUT /store/NAME` keeps a body; `/nothing` is a 204.
package struct NginxUpstream: Sendable {
  package let port: Int
  package let tlsPort: Int
  /// The port for TLS on which callers may choose HTTP/2; 0 if there is none.
  package let http2Port: Int
  package let process: ChildProcess
  private let directory: TemporaryDirectory

  /// Starts it with `certificate` (if none is given, one of its own that nobody trusts) on its TLS port and, if
  /// `clientAuthority` is given, only for those with a certificate of that authority.
  package init(
    in directory: TemporaryDirectory? = nil, certificate: CertificateAuthority.Certificate? = nil,
    clientAuthority: String? = nil, speaksHTTP2: Bool = false
  ) async throws {
    let directory = try directory ?? TemporaryDirectory()
    self.directory = directory
    (port, tlsPort, http2Port) = (try freePort(), try freePort(), speaksHTTP2 ? try freePort() : 0)
    for name in ["files", "store"] { mkdir(directory.file(name), 0o777) }
    for (name, size) in [("1k", 1 << 10), ("64k", 64 << 10), ("1m", 1 << 20)] {
      try directory.write(String(repeating: "0123456789abcdef", count: size / 16), to: "files/\(name)")
    }
    let shown =
      if let certificate { certificate } else {
        try await CertificateAuthority("nginx-ca", in: directory).issue("nginx")
      }
    let verify = clientAuthority.map { "ssl_verify_client on; ssl_client_certificate \($0);" } ?? ""
    process = try await nginx(
      serving: Self.server(in: directory.path, ports: (port, tlsPort, http2Port), certificate: shown, verify: verify),
      at: port, in: directory)
  }

  /// The lines of its access log so far: `METHOD URI STATUS connection=N authorization=VALUE length=N`.
  package var accessLog: [String] {
    directory.read("nginx-access.log").split(separator: "\n").map(String.init)
  }

  /// The bytes stored under `/store/NAME`, as text.
  package func stored(_ name: String) -> String { directory.read("store/\(name)") }

  private static func server(
    in directory: String, ports: (Int, Int, Int), certificate: CertificateAuthority.Certificate, verify: String
  ) -> String {
    """
    log_format seen '$request_method $request_uri $status connection=$connection authorization=$http_authorization \
    length=$request_length';
    large_client_header_buffers 8 64k;
    client_max_body_size 0;
    underscores_in_headers on;
    server {
      access_log \(directory)/nginx-access.log seen;
      listen 127.0.0.1:\(ports.0) backlog=1024;
      listen 127.0.0.1:\(ports.1) ssl backlog=1024;
      \(ports.2 == 0 ? "" : "listen 127.0.0.1:\(ports.2) ssl http2;")
      ssl_certificate \(certificate.certificateFile);
      ssl_certificate_key \(certificate.keyFile);
      \(verify)
      root \(directory);
      default_type application/octet-stream;
      location /echo {
        default_type text/plain;
        add_header X-Answered-By nginx;
        return 200 "method=$request_method\\nuri=$request_uri\\nprotocol=$server_protocol\\nhost=$http_host\\n\
    authorization=$http_authorization\\nconnection=$http_connection\\nkeep-alive=$http_keep_alive\\nte=$http_te\\n\
    proxy-authorization=$http_proxy_authorization\\nx-listed=$http_x_listed\\nx-kept=$http_x_kept\\nvia=$http_via\\n\
    forwarded=$http_forwarded\\nx-forwarded-for=$http_x_forwarded_for\\nx-forwarded-proto=$http_x_forwarded_proto\\n\
    x-forwarded-host=$http_x_forwarded_host\\ntraceparent=$http_traceparent\\nx-request-id=$http_x_request_id\\n\
    scheme=$scheme\\ntls=$ssl_protocol\\nreused=$ssl_session_reused\\nsni=$ssl_server_name\\nserial=$connection\\n";
      }
      location = /nothing { return 204; }
      location = /moved { return 302 https://elsewhere.example/; }
      location = /refused {
        add_header WWW-Authenticate 'Bearer realm="orders"' always;
        return 401 "no\\n";
      }
      location /store/ { dav_methods PUT DELETE; dav_access user:rw; }
    }

    """
  }
}

/// Starts nginx with these directives for HTTP, and waits until it listens at `port`.
package func nginx(serving servers: String, at port: Int, in directory: TemporaryDirectory? = nil) async throws
  -> ChildProcess
{
  let directory = try directory ?? TemporaryDirectory()
  let name = "nginx-\(port)"
  let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
    "\($0)_temp_path \(directory.path)/\(name)-\($0);"
  }.joined(separator: " ")
  // One process: killing it leaves no worker behind.
  let file = try directory.write(
    """
    daemon off;
    master_process off;
    \(getuid() == 0 ? "user root;" : "")
    pid \(directory.path)/\(name).pid;
    events { worker_connections 8192; }
    http {
      access_log off;
      \(temporary)
      default_type application/json;
      \(servers)
    }

    """, to: "\(name).conf")
  let process = try ChildProcess(
    name, ["nginx", "-p", directory.path, "-e", directory.file("\(name)-error.log"), "-c", file], in: directory)
  try await waitForPort(port, of: process)
  return process
}

/// Waits until 127.0.0.1:`port` accepts connections; throws what `process` said when it ends before.
package func waitForPort(_ port: Int, of process: ChildProcess) async throws {
  let open = try await eventually {
    if let status = process.poll() {
      throw TestSupportError("\(process.name) ended with \(status): \(process.errors) \(process.output)")
    }
    return accepts(port)
  }
  guard open else { throw TestSupportError("\(process.name) does not listen on \(port): \(process.errors)") }
}
