import Glibc
import LiveClient
import Proxy

/// What `reprise record proxy` is asked for, apart from its two places.
struct ProxySettings {
  private static let count = OptionSpec(
    name: "count", value: "N", help: "Ends when N connections have come and are over.")
  private static let tls = OptionSpec(
    name: "tls", help: "Speaks TLS with clients, by the certificate authority of reprise ca.")
  /// Where the authority is.
  static let authorityFolder = OptionSpec(
    name: "ca-folder", value: "FOLDER", isFile: true,
    help: "The certificate authority's folder; as it is ~/.local/share/reprise/ca.")
  private static let fault = OptionSpec(
    name: "fault", value: "RULE", repeats: true,
    help: "Spoils what passes, see below; may be repeated.")
  static let conform = OptionSpec(
    name: "conform",
    help: "Judges what passes by the clauses of MQTT and WebSocket, see below.")

  /// The options, in the order of the help.
  static let options =
    [CaptureFileSettings.output, RecordSettings.duration, count] + CaptureFileSettings.options + [
      BrokerOptions.authority, BrokerOptions.certificate, BrokerOptions.key,
      BrokerOptions.insecure, tls, authorityFolder, conform, fault,
    ]

  /// Where the capture goes.
  let file: CaptureFileSettings
  /// Whether it is judged.
  let judges: Bool
  /// What the proxy is to do besides.
  private(set) var proxy = Proxy.Options()

  /// Reads the options.
  /// - Parameter arguments: What was typed.
  /// - Throws: ``UsageError``.
  init(_ arguments: Arguments) throws(UsageError) {
    file = try CaptureFileSettings(arguments, for: "record proxy", "a proxy")
    guard arguments.has(Self.tls) || !arguments.has(Self.authorityFolder) else {
      throw UsageError("--ca-folder is for --tls", "add --tls")
    }
    proxy.authorityFolder = arguments.has(Self.tls) ? try Self.folder(arguments) : nil
    proxy.faults = try ProxyFaults(rules: arguments.list(Self.fault))
    judges = arguments.has(Self.conform)
    if judges { try file.checkCanJudge() }
    proxy.duration = try arguments.duration(RecordSettings.duration)
    proxy.connections = try arguments.count(Self.count)
    // Small files take small pieces.
    if let limit = file.limit { proxy.pieceSize = min(proxy.pieceSize, limit / 8) }
  }

  /// Where the certificate authority is.
  /// - Parameter arguments: What was typed.
  /// - Returns: The folder.
  /// - Throws: ``UsageError`` where there is no usual one.
  static func folder(_ arguments: Arguments) throws(UsageError) -> String {
    let usual = CertificateAuthority.usualFolder { name in getenv(name).map { String(cString: $0) }
    }
    guard let folder = arguments.value(authorityFolder) ?? usual else {
      throw UsageError(
        "there is no home to keep a certificate authority in", "add --ca-folder FOLDER")
    }
    return folder
  }
}
