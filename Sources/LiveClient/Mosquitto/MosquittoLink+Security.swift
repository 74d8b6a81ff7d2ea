import Glibc

/// Why TLS did not come about.
extension MosquittoLink {
  /// What TLS complained of, for people; it says nothing when the server cuts the connection.
  /// - Parameter number: The system's error number, right after the call that failed.
  /// - Returns: The text, without a full stop; nil when it is not TLS that failed.
  func securityProblem(errno number: Int32) -> String? {
    guard setup.url.isSecure, limits == nil else { return nil }
    if let shared = setup.tls.preSharedKey { return problem(of: shared, errno: number) }
    if complains("host name verification failed") {
      return
        "the server's certificate is not for the host \(setup.url.host); connect by a name that "
        + "stands in it"
    }
    if complains("certificate verify failed") {
      return
        "the server's certificate is not trusted (certificate verify failed); trust the authority "
        + "that issued it"
    }
    if let problem = fileProblem { return problem }
    guard complaints.isEmpty else {
      return reasons.joined(separator: ", ") + "; see whether the server speaks TLS on this port"
    }
    guard number == EPROTO else { return nil }
    return
      "the server broke off; it may want another client certificate: give it one that it trusts"
  }

  /// What is said of a server that shows a certificate where a pre-shared key was to be used.
  static let certificateInstead =
    "the server shows a certificate and does not use the pre-shared key; connect to it by its "
    + "certificate, or where the key is known"

  /// What TLS by a pre-shared key complained of.
  private func problem(of shared: PreSharedKey, errno number: Int32) -> String? {
    if complains("certificate verify failed") { return Self.certificateInstead }
    // Which one a server sends is its choice, and what it means otherwise is no fault of this end.
    if complains(" alert ") {
      return
        "the server does not take the pre-shared key of \(shared.identity) "
        + "(\(reasons.joined(separator: ", "))); give the identity and the key that it knows"
    }
    guard complaints.isEmpty else {
      return reasons.joined(separator: ", ") + "; see whether the server speaks TLS on this port"
    }
    guard number == EPROTO else { return nil }
    return "the server broke off; see whether it knows the pre-shared key of \(shared.identity)"
  }

  /// What is wrong with a file of our own, which is no fault of the server.
  private var fileProblem: String? {
    let tls = setup.tls
    if complains("key values mismatch") || complains("certificate/key are inconsistent") {
      return
        "the key \(tls.keyFile ?? "") does not belong to the certificate \(tls.certificateFile ?? ""); "
        + "give the key of the client's own certificate"
    }
    let why = " (\(reasons.dropFirst().joined(separator: ", ")))"
    if complains("Unable to load CA certificates") {
      let file = tls.authorityFile ?? tls.authorityDirectory ?? ""
      return "no authority can be read from \(file)\(why); correct the file"
    }
    if complains("Unable to load client certificate") {
      return "no certificate can be read from \(tls.certificateFile ?? "")\(why); correct the file"
    }
    if complains("Unable to load client key") {
      return
        "no key can be read from \(tls.keyFile ?? "")\(why); correct the file, and leave it no password"
    }
    return nil
  }

  /// The complaints without what OpenSSL puts before its reasons.
  private var reasons: [String] {
    complaints.map { line in line.split(separator: "::").last.map(String.init) ?? line }
  }

  private func complains(_ text: String) -> Bool { complaints.contains { $0.contains(text) } }
}
