import Capture

/// Where a recorder of frames writes to, and when it begins another file.
struct CaptureFileSettings {
  static let output = OptionSpec(
    name: "output", letter: "o", value: "FILE", isFile: true,
    help: "The capture to write, pcapng; - is standard output. Needed.")

  /// The options, in the order of the help, apart from ``output``.
  static let options = [
    RecordSettings.maximumSize, RecordSettings.rotation, RecordSettings.interval,
    RecordSettings.force,
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
  private let interval: Duration?

  /// Reads the options.
  /// - Parameters:
  ///   - arguments: What was typed.
  ///   - command: The command that asks.
  ///   - recorder: The same with its article, as in `a proxy`.
  /// - Throws: ``UsageError``.
  init(_ arguments: Arguments, for command: String, _ recorder: String) throws(UsageError) {
    guard let path = arguments.value(Self.output) else {
      throw UsageError("\(command) needs a file to write", "add -o FILE.pcapng")
    }
    for ending in [".jsonl", ".pcap"] where path.hasSuffix(ending) {
      throw UsageError(
        "\(recorder) writes pcapng, so there is nothing to write to a \(ending) file",
        "name a capture: -o FILE.pcapng")
    }
    self.path = path
    replaces = arguments.has(RecordSettings.force)
    rotates = arguments.has(RecordSettings.rotation)
    limit = try RecordSettings.limit(arguments)
    interval = try arguments.duration(RecordSettings.interval)
    try RecordSettings.checkRotation(arguments, ending: ".pcapng")
  }

  /// Refuses that findings go where the capture goes.
  /// - Throws: ``UsageError``.
  func checkCanJudge() throws(UsageError) {
    guard path == "-" else { return }
    throw UsageError(
      "standard output can't have both the capture and what is found",
      "name a file: -o FILE.pcapng")
  }

  /// Checks whether the file could be written.
  /// - Throws: ``OutputError``.
  func makeFile() throws(OutputError) -> RecordingFile {
    try RecordingFile(path, isNumbered: rotates, replaces: replaces)
  }

  /// When a file is full, and what comes then.
  func rotation(of file: RecordingFile) -> PcapngFiles.Rotation {
    var rotation = PcapngFiles.Rotation()
    rotation.limit = limit
    rotation.interval = interval
    if rotates { rotation.startNext = { try file.startNext() } }
    return rotation
  }
}
