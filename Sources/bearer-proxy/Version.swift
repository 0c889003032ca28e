// Owns the version of the program: the only place where it is written.

/// The version, by Semantic Versioning 2.0.
let programVersion = "0.1.0"

/// The commit that the program was built from; nil where `deploy/release`, which writes it here, did not build it.
let programCommit: String? = nil
