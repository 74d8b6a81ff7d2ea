import Glibc
import Proxy
import RepriseCore

/// What `reprise record proxy` is asked for, apart from its two places.
struct ProxySettings {
  private static let output = OptionSpec(
    name: "output", letter: "o", value: "FILE", isFile: true,
    help: "The capture to write, pcapng; - is standard output. Needed.")
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
  private static let conform = OptionSpec(
    name: "conform",
    help: "Judges what passes by the clauses of MQTT and WebSocket, see below.")

  /// The options, in the order of the help.
  static let options = [
    output, RecordSettings.duration, count, RecordSettings.maximumSize, RecordSettings.rotation,
    RecordSettings.interval, RecordSettings.force, BrokerOptions.authority,
    BrokerOptions.certificate, BrokerOptions.key, BrokerOptions.insecure, tls, authorityFolder,
    conform, fault,
  ]

  /// Where the capture goes.
  let path: String
  /// The same for people.
  var shownPath: String { path == "-" ? "standard output" : path }
  /// Whether a file that exists is replaced.
  let replaces: Bool
  /// Whether there is one file after the other.
  let rotates: Bool
  /// How large a file may be.
  let limit: Int?
  /// How often another file is begun.
  let interval: Duration?
  /// Whether it is judged.
  let judges: Bool
  /// What the proxy is to do besides.
  private(set) var proxy = Proxy.Options()

  /// Reads the options.
  /// - Parameter arguments: What was typed.
  /// - Throws: ``UsageError``.
  init(_ arguments: Arguments) throws(UsageError) {
    guard let path = arguments.value(Self.output) else {
      throw UsageError("record proxy needs a file to write", "add -o FILE.pcapng")
    }
    for ending in [".jsonl", ".pcap"] where path.hasSuffix(ending) {
      throw UsageError(
        "a proxy writes pcapng, so there is nothing to write to a \(ending) file",
        "name a capture: -o FILE.pcapng")
    }
    self.path = path
    guard arguments.has(Self.tls) || !arguments.has(Self.authorityFolder) else {
      throw UsageError("--ca-folder is for --tls", "add --tls")
    }
    proxy.authorityFolder = arguments.has(Self.tls) ? try Self.folder(arguments) : nil
    proxy.faults = try ProxyFaults(rules: arguments.list(Self.fault))
    judges = arguments.has(Self.conform)
    guard !judges || path != "-" else {
      throw UsageError(
        "standard output can't have both the capture and what is found",
        "name a file: -o FILE.pcapng")
    }
    replaces = arguments.has(RecordSettings.force)
    rotates = arguments.has(RecordSettings.rotation)
    limit = try RecordSettings.limit(arguments)
    interval = try arguments.duration(RecordSettings.interval)
    try RecordSettings.checkRotation(arguments, ending: ".pcapng")
    proxy.duration = try arguments.duration(RecordSettings.duration)
    proxy.connections = try arguments.count(Self.count)
    // Small files take small pieces.
    if let limit { proxy.pieceSize = min(proxy.pieceSize, limit / 8) }
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
