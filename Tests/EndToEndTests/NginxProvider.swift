// nginx in the place of an identity provider whose answers never change.

import Glibc
import TestSupport

/// Starts nginx with these `server` blocks, and waits until it listens at `port`.
func nginx(serving servers: String, at port: Int, in directory: TemporaryDirectory? = nil) async throws
  -> ChildProcess
{
  let directory = try directory ?? TemporaryDirectory()
  let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
    "\($0)_temp_path \(directory.path)/provider-\($0);"
  }.joined(separator: " ")
  let file = try directory.write(
    """
    daemon off;
    master_process off;
    \(getuid() == 0 ? "user root;" : "")
    pid \(directory.path)/provider.pid;
    events { worker_connections 8192; }
    http {
      access_log off;
      \(temporary)
      default_type application/json;
      \(servers)
    }

    """, to: "provider.conf")
  let process = try ChildProcess(
    "nginx-provider", ["nginx", "-p", directory.path, "-e", directory.file("provider-error.log"), "-c", file],
    in: directory)
  try await waitForPort(port, of: process)
  return process
}
