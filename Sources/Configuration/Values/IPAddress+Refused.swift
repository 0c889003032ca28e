// Hosts that are refused by their text: those of a cloud's metadata service. A number that hides an address
// is no host of an `HTTPURL` at all.

import Bytes

/// True if a host, name or literal is a cloud's service that hands out a machine's own credentials. Names are judged as
/// written; their addresses can be judged only when they are resolved.
func isMetadataService(host: String) -> Bool {
  if let address = IPAddress(host) { return MetadataService.mayBe(at: address.bytes) }
  return MetadataService.isNamed(host)
}
