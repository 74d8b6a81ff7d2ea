import LiveClient
import RepriseCore

/// `reprise ca`: the certificate authority that clients of a proxy are to trust.
enum CertificateCommand: Command {
  private static let output = OptionSpec(
    name: "output", letter: "o", value: "FILE", isFile: true,
    help: "Writes the certificate to FILE instead of standard output.")

  static let spec = CommandSpec(
    name: "ca", summary: "Prints the certificate that clients of record proxy --tls must trust.",
    options: [output, RecordSettings.force, ProxySettings.authorityFolder],
    details: """
      The certificate authority is made when it is first asked for, in a folder that only you
      may read, and stays the same. Its certificate is no secret; its key is, and never leaves
      the folder: who has it can pretend to be any server to clients that trust it. Have test
      clients trust it, not computers.

      To begin anew, delete the folder.

      Examples:
        reprise ca -o ca.pem
        mosquitto_sub --cafile ca.pem -h localhost -p 8884 -t '#'
      """)

  static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
    let path = arguments.value(output)
    let file = try OutputFile(path, inputs: [], replaces: arguments.has(RecordSettings.force))
    let authority: CertificateAuthority
    let folder = try ProxySettings.folder(arguments)
    do throws(DataClientError) { authority = try open(folder, console) } catch {
      throw ToldError(description: error.message)
    }
    let certificate = authority.certificate
    try file.write(certificate.span.bytes)
    try file.close()
    return .done
  }

  /// Opens the authority, and tells when it is new.
  /// - Parameters:
  ///   - folder: Its folder.
  ///   - console: How to tell.
  /// - Returns: The authority.
  /// - Throws: `DataClientError` when it can't be opened or made.
  @discardableResult
  static func open(
    _ folder: String, _ console: Console
  ) throws(DataClientError) -> CertificateAuthority {
    let authority = try CertificateAuthority(in: folder)
    if authority.isNew {
      console.note(
        folder, "made a certificate authority; its SHA-256 fingerprint is \(authority.fingerprint)")
    }
    return authority
  }
}

/// What can't be done, told as it is.
struct ToldError: Error, CustomStringConvertible {
  let description: String
}
