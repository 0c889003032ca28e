// Which hosts are refused by how they are written: those of a cloud's metadata service. A number that hides an address
// is no host of an `HTTPURL` at all.

import Bytes

/// Whether a host, name or literal, is where a cloud hands out a machine's own credentials. Names are judged as
/// written; what they resolve to can only be judged where they are resolved.
func isMetadataService(host: String) -> Bool {
  if let address = IPAddress(host) { return MetadataService.mayBe(at: address.bytes) }
  return MetadataService.isNamed(host)
}
