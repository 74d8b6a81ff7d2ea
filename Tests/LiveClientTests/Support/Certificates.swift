import TestSupport

/// Certificates of a test's own, made by openssl.
struct Certificates {
  let directory = Scratch()

  var authority: String { directory.file("ca.pem") }
  var otherAuthority: String { directory.file("other.pem") }

  func certificate(_ name: String) -> String { directory.file("\(name).pem") }
  func key(_ name: String) -> String { directory.file("\(name).key") }

  /// A broker that shows one of them.
  func broker(_ name: String, _ settings: [String] = []) async throws -> Broker {
    try await Broker(
      [
        "allow_anonymous true", "cafile \(authority)", "certfile \(certificate(name))",
        "keyfile \(key(name))",
      ] + settings)
  }

  /// Makes two authorities; the first issues for `localhost`, for `elsewhere.test` and for a
  /// client.
  init() async throws {
    for name in ["ca", "other"] {
      try await openssl([
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
        "-days", "2", "-subj", "/CN=Test authority \(name)", "-keyout", key(name),
        "-out", certificate(name),
      ])
    }
    try await issue("server", for: "localhost", names: "DNS:localhost,IP:127.0.0.1")
    try await issue("wrong", for: "elsewhere.test", names: "DNS:elsewhere.test")
    try await issue("client", for: "client", names: "DNS:client")
  }

  private func issue(_ name: String, for subject: String, names: String) async throws {
    try directory.write("subjectAltName=\(names)\n", to: "\(name).ext")
    try await openssl([
      "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
      "-subj", "/CN=\(subject)", "-keyout", key(name), "-out", directory.file("\(name).csr"),
    ])
    try await openssl([
      "x509", "-req", "-in", directory.file("\(name).csr"), "-CA", authority,
      "-CAkey", key("ca"), "-CAcreateserial", "-days", "2", "-out", certificate(name),
      "-extfile", directory.file("\(name).ext"),
    ])
  }

  private func openssl(_ arguments: [String]) async throws {
    try await Child.run(["openssl"] + arguments)
  }
}
