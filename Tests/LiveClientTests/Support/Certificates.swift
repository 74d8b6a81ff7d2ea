/// Certificates of a test's own, made by openssl.
struct Certificates {
  let directory: Scratch

  var authority: String { directory.file("ca.pem") }
  var otherAuthority: String { directory.file("other.pem") }

  func certificate(_ name: String) -> String { directory.file("\(name).pem") }
  func key(_ name: String) -> String { directory.file("\(name).key") }

  /// Makes two authorities; the first issues for `localhost`, for `elsewhere.test` and for a
  /// client.
  init() throws {
    directory = try Scratch()
    for name in ["ca", "other"] {
      try openssl([
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
        "-days", "2", "-subj", "/CN=Test authority \(name)", "-keyout", key(name),
        "-out", certificate(name),
      ])
    }
    try issue("server", for: "localhost", names: "DNS:localhost,IP:127.0.0.1")
    try issue("wrong", for: "elsewhere.test", names: "DNS:elsewhere.test")
    try issue("client", for: "client", names: "DNS:client")
  }

  private func issue(_ name: String, for subject: String, names: String) throws {
    try directory.write("subjectAltName=\(names)\n", to: "\(name).ext")
    try openssl([
      "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
      "-subj", "/CN=\(subject)", "-keyout", key(name), "-out", directory.file("\(name).csr"),
    ])
    try openssl([
      "x509", "-req", "-in", directory.file("\(name).csr"), "-CA", authority,
      "-CAkey", key("ca"), "-CAcreateserial", "-days", "2", "-out", certificate(name),
      "-extfile", directory.file("\(name).ext"),
    ])
  }

  private func openssl(_ arguments: [String]) throws {
    try Child.run(["openssl"] + arguments, output: directory.file("openssl.log"))
  }
}
