import Capture
import RepriseCore
import SDKReplay

/// The session of one client, read from a file.
struct ReplayInput {
  private let file: String
  private let reader: SessionReader?
  /// What the parts of requests are called; nil if nothing is said of it.
  private let envelope: RequestEnvelope?
  private let console: Console

  /// Reads a file; one that can't be read is told.
  /// - Parameters:
  ///   - file: The file.
  ///   - selection: Whose part of the session is wanted.
  ///   - window: Which time of it.
  ///   - arguments: Where `--bpf`, `--decode` and `--envelope` stand.
  ///   - console: How to tell the user about errors and notes.
  /// - Throws: ``UsageError`` for an option that can't be understood, and ``Interrupted``.
  init(
    file: String, selection: ReplaySelection, window: ReplayWindow, arguments: Arguments,
    console: Console
  ) throws {
    self.file = file
    self.console = console
    envelope = try RequestEnvelope(arguments)
    let source = SessionFile(file, options: try InputOptions(arguments))
    var reader = SessionReader(
      events: ReplayEvents(of: selection, within: window, rereading: source))
    reader.isChosen = selection != .only
    let run = try InputRun([file], arguments, console, output: nil)
    self.reader = try run.read(into: &reader) == 0 ? reader : nil
  }

  /// How long the whole session of the file took, as whole seconds.
  var seconds: Int64 {
    guard let reader, let begin = reader.begin, let end = reader.end else { return 0 }
    return end.nanoseconds(since: begin) / 1_000_000_000
  }

  /// Makes the replay; what is in its way is told.
  /// - Parameter options: How to compare and to tell the time.
  /// - Returns: The replay; nil when there can be none.
  func prepare(_ options: ReplayOptions) -> (any PreparedReplay)? {
    guard let reader else { return nil }
    if reader.events.isAmbiguous {
      tellClients(reader.survey.clients)
      return nil
    }
    var isOfRequests = false
    do {
      let system = try RecordedSystem(reader.events)
      isOfRequests = system == .requests
      let replay = try system.replay(reader.events, options, envelope ?? RequestEnvelope())
      if envelope != nil, !isOfRequests {
        console.note(
          file,
          "--envelope changes nothing: the session is that of \(replay.subject), not of requests")
      }
      return replay
    } catch {
      let source = options.source ?? file
      let keys = isOfRequests ? ", and tell keys of the app's own with --envelope FILE" : ""
      console.error("\(file): \(error); type reprise inspect \(source) to see what it is\(keys)")
      return nil
    }
  }

  // MARK: Words

  private func tellClients(_ clients: [ReplaySurvey.Client]) {
    console.error(
      "\(file): the session has \(clients.count) clients; choose one of these")
    var text = ""
    for client in clients.prefix(20) {
      text += "  \(Self.option(of: client))  \(Self.description(of: client))\n"
    }
    if clients.count > 20 { text += "  … and \(clients.count - 20) more\n" }
    var shown: [UInt8] = []
    for line in text.split(separator: "\n") {
      let bytes = Array(line.utf8)
      TerminalText.append(bytes.span.bytes, to: &shown)
      shown.append(UInt8(ascii: "\n"))
    }
    console.excerpt(String(decoding: shown, as: UTF8.self))
  }

  private static func option(of client: ReplaySurvey.Client) -> String {
    guard let name = client.clientID, !name.isEmpty else {
      return "--connection \(client.connections.first ?? 0)"
    }
    return "--client-id \(ShellWord.quoted(name))"
  }

  private static func description(of client: ReplaySurvey.Client) -> String {
    let numbers = client.connections.prefix(5).map(String.init).joined(separator: ", ")
    let more = client.connections.count > 5 ? ", …" : ""
    let word = client.connections.count == 1 ? "connection" : "connections"
    var text = "\(word) \(numbers)\(more), \(client.packets) packets"
    if client.clientID == nil { text += ", begun before the capture" }
    guard !client.topics.isEmpty else { return text }
    return text + ": " + client.topics.joined(separator: ", ") + (client.hasMoreTopics ? ", …" : "")
  }

  /// Returns the file with the options that it is read by, for commands to type next.
  static func source(_ file: String, _ arguments: Arguments) -> String {
    var words = [file]
    if let bpf = arguments.value(.bpf) { words += ["--bpf", bpf] }
    for rule in arguments.list(.decode) { words += ["--decode", rule] }
    for keyLog in arguments.list(.keyLog) { words += ["--keylog", keyLog] }
    if let key = arguments.value(.serverKey) { words += ["--server-key", key] }
    // A secret is for its owner to type.
    let psk = arguments.value(.preSharedKey) == nil ? "" : " --psk HEX"
    return words.map(ShellWord.quoted).joined(separator: " ") + psk
  }
}

/// Hands the events of one file to those who gather and to those who look around.
private struct SessionReader: SessionConsumer {
  var events: ReplayEvents
  var survey = ReplaySurvey()
  /// Whether the user said which client is meant.
  var isChosen = false
  /// The times of the first event and of the last; nil without any.
  private(set) var begin: Timestamp?
  private(set) var end: Timestamp?

  init(events: ReplayEvents) { self.events = events }

  mutating func beginFile(_ name: String) {}
  mutating func consume(_ event: borrowing EventView) {
    begin = begin ?? event.context.time
    end = max(end ?? event.context.time, event.context.time)
    events.consume(event)
    if !isChosen { survey.consume(event) }
  }
  mutating func endFile() {}
}

extension SessionFolder {
  /// Returns the one session that a path names.
  /// - Parameter path: A file, `-`, or a folder with a capture or a recording.
  /// - Returns: The file.
  /// - Throws: ``UsageError`` when a folder has none, or several.
  static func session(_ path: String) throws(UsageError) -> String {
    guard path != "-", isFolder(path) else { return path }
    let folder = path.last == "/" ? String(path.dropLast()) : path
    let files = sessions(in: folder)
    if let capture = files.first(where: { $0 == "\(folder)/capture.pcap" }) { return capture }
    if files.count == 1, let file = files.first { return file }
    guard !files.isEmpty else {
      throw UsageError("there is no capture and no recording in \(path)", "name a file")
    }
    let names = files.prefix(5).joined(separator: ", ") + (files.count > 5 ? ", …" : "")
    throw UsageError("\(path) has \(files.count) sessions", "name one of them: \(names)")
  }
}
