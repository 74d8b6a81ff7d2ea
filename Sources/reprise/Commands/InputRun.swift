import Capture
import ConformanceKit
import Glibc
import RepriseCore
import Wire

/// What takes the events of one file after the other.
protocol SessionConsumer: EventConsumer {
  /// Told before the first event of a file.
  mutating func beginFile(_ name: String) throws
  /// Told where whole connections of the file may be missing, before it ends.
  mutating func note(_ missing: MissingConnections)
  /// Told after the last event of a file.
  mutating func endFile() throws
}

extension SessionConsumer {
  /// Does nothing: who does not judge has no use for it.
  mutating func note(_ missing: MissingConnections) {}
}

/// One pass over all files of a command.
struct InputRun {
  /// The files, as they were typed; those of one capture in the order in which they were captured.
  let files: [String]
  /// Whether all files are parts of one capture, which then is called as the first of them.
  let isJoined: Bool
  private(set) var options: InputOptions
  private let console: Console
  private let showsProgress: Bool
  /// What came through standard input, where that is read several times.
  private var kept: InputCopy?

  /// Prepares a pass.
  /// - Parameters:
  ///   - files: The files, as they were typed.
  ///   - arguments: Where `--bpf`, `--decode`, the keys of TLS, `--memory` and `--jobs` stand.
  ///   - console: How to tell the user about errors and notes.
  ///   - output: Where results go; to a terminal they are their own progress.
  /// - Throws: ``UsageError`` for an option that can't be understood.
  init(
    _ files: [String], _ arguments: Arguments, _ console: Console, output: OutputFile?
  ) throws(UsageError) {
    self.files = files
    isJoined = false
    self.console = console
    options = try InputOptions(arguments)
    showsProgress = output?.isTerminal != true
  }

  /// Prepares a pass over files that may be the parts of one capture.
  /// - Throws: ``UsageError`` for an option that can't be understood, and ``CaptureError`` for a part that is none.
  init(
    _ files: [String], _ arguments: Arguments, _ console: Console, isJoined: Bool
  ) throws {
    self.files = isJoined ? try CaptureJoint.inOrder(files) : files
    self.isJoined = isJoined
    self.console = console
    options = try InputOptions(arguments)
    showsProgress = true
  }

  /// The names of what is read one after the other.
  var sessions: ArraySlice<String> { isJoined ? files.prefix(1) : files[...] }

  /// Keeps what comes through standard input, where that is one of the files, so that it can be read again.
  /// - Throws: ``CaptureError`` where there is no room, or ``Interrupted``.
  mutating func keepStandardInput() throws {
    if kept == nil, files.contains("-") { kept = try InputCopy("-") }
  }

  /// Whether a file is a stream that someone may be writing to right now.
  var isLive: Bool {
    var status = stat()
    return files.contains("-") && fstat(STDIN_FILENO, &status) == 0
      && status.st_mode & S_IFMT != S_IFREG
  }

  /// Reads all files; one that can't be read is told and does not keep the others from it.
  /// - Parameter consumer: What takes the events.
  /// - Returns: How many of the files could not be read.
  /// - Throws: What makes it pointless to go on: ``OutputError`` or ``Interrupted``.
  func read(into consumer: inout some SessionConsumer) throws -> Int {
    try withProgress { progress in
      var unread = 0
      for file in sessions {
        progress.begin(file)
        try consumer.beginFile(file)
        if options.leavesConnectionsOut { consumer.note(.leftOut) }
        let outcome = try read(file, options, into: &consumer, progress)
        progress.tell { tell(outcome, of: file) }
        if !outcome.isRead { unread += 1 }
        for missing in outcome.missing { consumer.note(missing) }
        try consumer.endFile()
      }
      return unread
    }
  }

  /// Reads all files, and tells nothing of it: another pass over them does.
  /// - Parameter consumer: What takes the events.
  /// - Returns: How many of the files could not be read.
  /// - Throws: What makes it pointless to go on: ``OutputError`` or ``Interrupted``.
  func readSilently(into consumer: inout some SessionConsumer) throws -> Int {
    let progress = Progress(of: [], isWanted: false, console)
    var unread = 0
    for file in sessions {
      try consumer.beginFile(file)
      if try !read(file, options, into: &consumer, progress).isRead { unread += 1 }
      try consumer.endFile()
    }
    return unread
  }

  /// Shows how far it has come while the files are read.
  func withProgress<Value>(_ body: (Progress) throws -> Value) rethrows -> Value {
    let progress = Progress(of: files, isWanted: showsProgress, console)
    defer { progress.end() }
    return try body(progress)
  }

  /// What came of reading a file.
  enum Outcome {
    case read(InputSummary)
    /// What can't be read, which may be a key and not the file, and why.
    case failed(_ place: String, _ reason: String)

    var isRead: Bool {
      switch self {
      case .read: true
      case .failed: false
      }
    }

    /// What a report says of a file that could not be read; nil for one that was.
    func unread(_ file: String) -> UnreadInput? {
      switch self {
      case .read: nil
      case .failed(let place, let reason):
        UnreadInput(file: file, reason: place == file ? reason : "\(place): \(reason)")
      }
    }

    /// The parts of the capture that was read, and with which of its frames each begins; none of a file alone.
    var parts: [JoinedPart] {
      switch self {
      case .read(let summary):
        summary.joints.map { JoinedPart(file: $0.file, firstFrame: $0.firstFrame) }
      case .failed: []
      }
    }

    /// Why whole connections may be missing, by what was read.
    var missing: [MissingConnections] {
      switch self {
      case .read(let summary): summary.missingConnections
      case .failed: []
      }
    }

    /// Whether with more memory it could be another one.
    var lacksMemory: Bool {
      switch self {
      case .read(let summary): summary.lacksMemory
      case .failed: false
      }
    }
  }

  /// Reads one file, and tells nothing.
  /// - Parameters:
  ///   - file: The file.
  ///   - options: How it is read.
  ///   - consumer: What takes the events.
  ///   - progress: What counts what is read.
  /// - Returns: What was read, or what is in its way.
  /// - Throws: What makes it pointless to go on: ``OutputError`` or ``Interrupted``.
  func read<Consumer: EventConsumer>(
    _ file: String, _ options: InputOptions, into consumer: inout Consumer, _ progress: Progress
  ) throws -> Outcome {
    var options = options
    options.count = progress.bytes
    var watched = WatchedConsumer(base: consumer, progress: progress)
    defer { consumer = watched.base }
    do {
      guard !isJoined else {
        return .read(try SessionInput.read(joining: files, options: options, into: &watched))
      }
      return .read(
        try SessionInput.read(
          file == "-" ? kept?.path ?? file : file, options: options, into: &watched))
    } catch {
      if error is OutputError || error is Interrupted { throw error }
      // A signal can end a read with an error of the system.
      try Interruption.check()
      let reason = (error as? CaptureError)?.reason ?? (error as? RecordingError)?.reason
      // What can't be read may be a key, and not the file.
      let others =
        options.keyLogs + [options.serverKey].compactMap(\.self) + (isJoined ? files : [])
      let named = (error as? CaptureError)?.file
      let place = named.flatMap { others.contains($0) ? $0 : nil } ?? file
      return .failed(place, reason ?? "\(error)")
    }
  }

  /// Tells what came of reading a file.
  func tell(_ outcome: Outcome, of file: String) {
    switch outcome {
    case .read(let summary): for note in summary.notes { console.note(file, note) }
    case .failed(let place, let reason): console.error("\(place): \(reason)")
    }
  }
}

extension InputSummary {
  /// Why whole connections may be missing, by what was read.
  var missingConnections: [MissingConnections] {
    (framesDropped > 0 || lacksParts ? [.dropped] : [])
      + (unreadBeginnings.isEmpty ? [] : [.unread(begun: unreadBeginnings)])
      + (endsEarly ? [.behindTheEnd] : [])
  }
}

/// A consumer that counts what comes, and ends when the user wants it.
private struct WatchedConsumer<Base: EventConsumer>: EventConsumer {
  var base: Base
  let progress: Progress
  private var count = 0

  init(base: Base, progress: Progress) {
    self.base = base
    self.progress = progress
  }

  mutating func consume(_ event: borrowing EventView) throws {
    try Interruption.check()
    count &+= 1
    // What several threads count is told now and then only.
    if count & 0xFF == 0 { progress.add(events: 0x100) }
    try base.consume(event)
  }

  mutating func begin(_ header: RecordingHeader) throws { try base.begin(header) }
  mutating func note(unknown members: [JSONMember], line: Int) {
    base.note(unknown: members, line: line)
  }
  mutating func expect(connection: Int) { base.expect(connection: connection) }
}

extension InputOptions {
  /// Reads `--bpf`, `--decode`, the keys of TLS, `--memory` and `--jobs`.
  init(_ arguments: Arguments) throws(UsageError) {
    self.init(
      bpf: arguments.value(.bpf), keyLogs: arguments.list(.keyLog),
      serverKey: arguments.value(.serverKey), preSharedKey: try Self.preSharedKey(arguments),
      memory: try arguments.memory() / 16 * 11,
      jobs: try arguments.count(.jobs) ?? sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    for text in arguments.list(.decode) {
      let (port, rule) = try Self.decodeRule(text)
      decode[port] = rule
    }
  }

  /// Reads `--psk`.
  private static func preSharedKey(_ arguments: Arguments) throws(UsageError) -> [UInt8]? {
    guard let text = arguments.value(.preSharedKey) else { return nil }
    return try SharedKeyOptions.bytes(text)
  }

  private static func decodeRule(_ text: String) throws(UsageError) -> (UInt16, DecodeRule) {
    let parts = text.split(separator: "=", maxSplits: 1)
    guard parts.count == 2, let port = UInt16(parts[0]), port > 0 else {
      throw UsageError(
        "--decode can't be '\(text)'", "type a port and what it carries: --decode 1884=mqtt")
    }
    switch parts[1] {
    case "mqtt": return (port, .mqtt(version: nil))
    case "mqtt-3.1": return (port, .mqtt(version: .v3_1))
    case "mqtt-3.1.1": return (port, .mqtt(version: .v3_1_1))
    case "mqtt-5.0": return (port, .mqtt(version: .v5_0))
    case "websocket": return (port, .webSocket)
    case "http": return (port, .http)
    case "none": return (port, .none)
    case "tls": return (port, .tls)
    default:
      throw UsageError(
        "--decode can't be '\(text)'",
        "behind the port it takes mqtt, mqtt-3.1, mqtt-3.1.1, mqtt-5.0, websocket, http, tls or none"
      )
    }
  }
}
