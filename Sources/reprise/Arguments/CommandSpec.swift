/// What a command takes: the one source of its parser, its help and its completion.
struct CommandSpec: Sendable {
  /// The name as it is typed, such as `conform trace`.
  var name: String
  /// What it does, in half a line.
  var summary: String
  /// What it is given besides options, as the usage line shows it; empty if nothing.
  var operands: String = ""
  /// How many operands it takes.
  var operandCount: ClosedRange<Int> = 0...0
  /// The options of its own.
  var options: [OptionSpec] = []
  /// What to do instead, for options that others of its kind have and it has not.
  var missing: [String: String] = [:]
  /// What else the help says, after the options.
  var details: String = ""

  /// The options of its own and those that every command has.
  var allOptions: [OptionSpec] { options + OptionSpec.common }

  /// How to see all of this.
  var helpHint: String { name == "reprise" ? "type reprise help" : "type reprise help \(name)" }
}

/// An option of a command.
struct OptionSpec: Sendable {
  /// The name without its dashes.
  var name: String
  /// The one letter that stands for it, if there is one.
  var letter: Character?
  /// What its value is, as the help shows it; nil for a flag, which has none.
  var value: String?
  /// The only values that it takes; empty if others are possible.
  var choices: [String] = []
  /// Whether it may stand several times, and its value be a list with commas.
  var isList = false
  /// Whether it may stand several times, each value as it is.
  var repeats = false
  /// Whether a shell completes its value by file names.
  var isFile = false
  /// What it does.
  var help: String
}

extension OptionSpec {
  static let help = OptionSpec(name: "help", letter: "h", help: "Shows this help.")
  static let version = OptionSpec(name: "version", letter: "V", help: "Shows the version.")
  static let verbose = OptionSpec(
    name: "verbose", help: "With --version, shows those of the libraries, too.")
  static let quiet = OptionSpec(
    name: "quiet", letter: "q", help: "Shows no notes and no progress, only results and errors.")
  static let color = OptionSpec(
    name: "color", value: "WHEN", choices: ["auto", "always", "never"],
    help: "Colours: auto (default: on a terminal, unless NO_COLOR is set), always or never.")

  /// What every command takes.
  static let common = [quiet, color, help]

  static let output = OptionSpec(
    name: "output", letter: "o", value: "FILE", isFile: true,
    help: "Writes to FILE instead of standard output.")
  static let bpf = OptionSpec(
    name: "bpf", value: "EXPRESSION",
    help: "Reads only the frames that match, in libpcap's language: 'tcp port 1883'.")
  static let decode = OptionSpec(
    name: "decode", value: "PORT=WHAT", isList: true,
    help:
      "Takes the traffic of a port for WHAT: mqtt, mqtt-3.1, mqtt-3.1.1, mqtt-5.0, websocket, http, tls or none."
  )
  static let keyLog = OptionSpec(
    name: "keylog", value: "FILE", repeats: true, isFile: true,
    help: """
      Decrypts TLS 1.2 and 1.3 by the keys in FILE, as SSLKEYLOGFILE lets programs write it; may stand several times.
      """)
  static let serverKey = OptionSpec(
    name: "server-key", value: "PEM", isFile: true,
    help: "Decrypts TLS 1.2 by the server's private key, where its RSA key exchange was used.")
  static let preSharedKey = OptionSpec(
    name: "psk", value: "HEX",
    help: "Decrypts TLS 1.2 and 1.3 by the key that both ends share, where only it was used.")
  static let envelope = OptionSpec(
    name: "envelope", value: "FILE", isFile: true,
    help:
      "Takes the keys of requests over WebSocket from FILE, as reprise help simulate-frames shows.")
  static let memory = OptionSpec(
    name: "memory", value: "SIZE",
    help: "The memory to take, in all: 64M; 256M (default). What it is too small for is told.")
  static let jobs = OptionSpec(
    name: "jobs", value: "N",
    help: "How many threads may work, to the same result; as many as processors (default)."
  )
  static let spec = OptionSpec(
    name: "spec", value: "NAME", isList: true,
    help: "Only the clauses of these specifications, such as mqtt-3.1.1,rfc6455.")
}
