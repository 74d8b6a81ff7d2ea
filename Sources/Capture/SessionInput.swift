public import RepriseCore
public import Wire

/// What a command says about the files that it reads.
public struct InputOptions: Sendable {
  /// A filter in libpcap's language; only frames that match it are read.
  ///
  /// Nil reads all frames.
  public var bpf: String?
  /// What to take the traffic of a port for, against what its bytes look like.
  public var decode: [UInt16: DecodeRule]
  /// Key logs in the format of NSS (SSLKEYLOGFILE), which may still grow, to decrypt TLS by.
  ///
  /// Secrets that a pcapng file carries itself are found without it.
  public var keyLogs: [String]
  /// The private RSA key of servers in PEM format, for cipher suites in which clients encrypt by it; nil for none.
  public var serverKey: String?
  /// The key that both ends have, for cipher suites in which nothing else makes the secret; nil for none.
  public var preSharedKey: [UInt8]?
  /// The memory, in bytes, that open connections and everything that is unfinished may take together.
  ///
  /// When it is met, what has waited longest is given up: an event or a note tells what.
  public var memory: Int

  /// How many threads a capture may be read by, at least 1; the events are the same with any number.
  ///
  /// With two, one reads and puts streams together, and the one that asks takes the events. Only files are read so
  /// that lie there whole: of what comes through a pipe nobody knows when more of it comes.
  public var jobs: Int

  /// What counts the bytes that are read, for whoever wants to know how far it is; nil where nobody does.
  public var count: ReadCount?

  /// The memory that is used where nothing else is said: 256 MiB.
  public static let defaultMemory = 256 << 20

  /// Creates options.
  public init(
    bpf: String? = nil, decode: [UInt16: DecodeRule] = [:], keyLogs: [String] = [],
    serverKey: String? = nil, preSharedKey: [UInt8]? = nil, memory: Int = defaultMemory,
    jobs: Int = 1
  ) {
    self.bpf = bpf
    self.decode = decode
    self.keyLogs = keyLogs
    self.serverKey = serverKey
    self.preSharedKey = preSharedKey
    self.memory = memory
    self.jobs = jobs
  }

  /// Whether connections of the file may be left out by what they say.
  public var leavesConnectionsOut: Bool {
    bpf != nil || decode.values.contains(DecodeRule.none)
  }

  /// Refuses what is said of the frames of a file that has none.
  /// - Throws: ``CaptureError/Code/invalidFilter``.
  func checkRecording() throws(CaptureError) {
    guard bpf != nil else { return }
    throw CaptureError(
      .invalidFilter, "a recording has no frames for --bpf to choose from",
      remedy: "choose events by --filter, or frames of the capture that it was made of")
  }
}

/// What to take the traffic of a port for: `--decode PORT=RULE`.
public enum DecodeRule: Sendable, Hashable {
  /// MQTT, of the version that the CONNECT names or evidence favours, or of a stated one.
  case mqtt(version: MQTTVersion?)
  /// WebSocket, with or without its handshake, and MQTT in it if there is any.
  case webSocket
  /// Requests and answers of HTTP/1.1, which nothing else asks for; and WebSocket where that is asked for first.
  case http
  /// TLS, and in it whatever its bytes look like.
  case tls
  /// Nothing that is decoded.
  case none
}

/// What was read from a file, and what could not be.
public struct InputSummary: Sendable {
  /// The number of frames, or of a recording's lines.
  public var frames = 0
  /// The number of connections that were recognised.
  public var connections = 0
  /// What was lost or left out, one sentence each, to be shown to the user.
  public var notes: [String] = []
  /// Whether something that was unfinished was given up, because all of it was more than
  /// ``InputOptions/memory`` allows: with more memory the events may be others.
  public var lacksMemory = false
  /// How many frames were lost while the file was captured, as far as it says so: whole connections may be among them.
  public var framesDropped = 0
  /// When connections may have begun to speak that can't be read, between hosts of which others are MQTT.
  public var unreadBeginnings: [ClosedRange<Timestamp>] = []
  /// Where the parts of the capture begin; none where it is one file.
  package var joints: [CaptureJoint] = []
  /// Whether it could be read to a place only, as it is damaged there or was cut: what came behind nobody knows.
  package var endsEarly = false
  /// Whether a part of it may be missing: whole connections may be in there.
  package var lacksParts = false

  /// Creates an empty summary.
  public init() {}
}

/// Reads any file that the product takes, recognised by content, as a stream of events.
public enum SessionInput {
  /// Reads a file to its end, or to where it is cut.
  /// - Parameters:
  ///   - path: The file; `-` is standard input.
  ///   - options: What the user says about the traffic.
  ///   - consumer: What takes the events.
  /// - Returns: What was read, with notes on every loss.
  /// - Throws: ``CaptureError`` and `RecordingError`, which name the file, when nothing can be read, and what the
  ///   consumer throws.
  public static func read<Consumer: EventConsumer>(
    _ path: String, options: InputOptions = InputOptions(), into consumer: inout Consumer
  ) throws -> InputSummary {
    try naming(path) { try readUnnamed(path, options, into: &consumer) }
  }

  /// Names the file in what is thrown while it is read.
  static func naming<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch let error as CaptureError {
      throw error.inFile(path)
    } catch let error as RecordingError {
      throw error.inFile(path)
    }
  }

  /// Reads the parts of one capture as if they were one file: connections go on from one to the next.
  /// - Parameters:
  ///   - paths: The files, in the order in which they were captured: ``CaptureJoint/inOrder(_:)``.
  ///   - options: What the user says about the traffic.
  ///   - consumer: What takes the events, whose frames are counted through all files.
  /// - Returns: What was read, with the places where the parts begin.
  /// - Throws: ``CaptureError``, which names the file, and what the consumer throws.
  package static func read<Consumer: EventConsumer>(
    joining paths: [String], options: InputOptions = InputOptions(), into consumer: inout Consumer
  ) throws -> InputSummary {
    if options.jobs > 1 { return try readApart(paths, options, into: &consumer) }
    return try read(
      CaptureReader(joining: paths, counting: options.count), options, rereading: paths,
      into: &consumer)
  }

  private static func readUnnamed<Consumer: EventConsumer>(
    _ path: String, _ options: InputOptions, into consumer: inout Consumer
  ) throws -> InputSummary {
    var source = try ByteSource(path: path, counting: options.count)
    switch try CaptureFormat.detect(in: &source) {
    case .recording:
      try options.checkRecording()
      return try RecordingSession.read(&source, into: &consumer)
    case .pcap, .pcapng:
      if options.jobs > 1, source.regularSize ?? 0 >= smallestForThreads {
        source.countNothing()
        return try readApart([path], options, into: &consumer)
      }
      let again = source.regularSize == nil ? [] : [path]
      return try read(CaptureReader(source), options, rereading: again, into: &consumer)
    }
  }

  private static func read<Consumer: EventConsumer>(
    _ reader: consuming CaptureReader, _ options: InputOptions, rereading paths: [String],
    into consumer: inout Consumer
  ) throws -> InputSummary {
    var reader: CaptureReader? = reader
    // Everything behind this closure is specialised code; the consumer's type may be anybody's.
    return try withUnsafeMutablePointer(to: &consumer) { consumer in
      guard let reader = reader.take() else { return InputSummary() }
      let emitter = SessionEmitter { event in try consumer.pointee.consume(event) }
      var session = try CaptureSession(reader, options, emitter, rereading: paths)
      while try session.read(.max) {}
      return try session.finish()
    }
  }

  /// In a file of fewer bytes there is less to do than a thread costs.
  private static let smallestForThreads = 256 << 10

  /// Reads a capture on a thread of its own, and takes its events on this one.
  static func readApart(
    _ paths: [String], _ options: InputOptions, into consumer: inout some EventConsumer
  ) throws -> InputSummary {
    let pipe = EventPipe()
    let thread = try WorkerThread { pipe.end(Result { try readCapture(paths, options, pipe) }) }
    defer { thread.join() }
    return try pipe.drain(into: &consumer)
  }

  private static func readCapture(
    _ paths: [String], _ options: InputOptions, _ pipe: EventPipe
  ) throws -> InputSummary {
    var session = try CaptureSession(
      CaptureReader(joining: paths, counting: options.count), options, SessionEmitter(pipe),
      rereading: paths)
    while try session.read(.max) {}
    return try session.finish()
  }
}

/// The way of a recording's bytes: lines, events.
enum RecordingSession {
  static let pieceSize = 1 << 18

  fileprivate static func read(
    _ source: inout ByteSource, into consumer: inout some EventConsumer
  ) throws -> InputSummary {
    var stream = RecordingStream()
    var summary = InputSummary()
    while try readPiece(of: &source, stream: &stream, into: &consumer) {}
    try stream.finish(into: &consumer)
    summary.frames = stream.lineCount
    summary.notes = stream.notes
    summary.endsEarly = stream.isCut || source.failure != nil
    if let failure = source.failure {
      summary.notes.append("read up to the damage only: \(failure)")
    }
    return summary
  }

  /// Hands on the lines of the next piece of a file.
  /// - Returns: Whether there was one.
  static func readPiece(
    of source: inout ByteSource, stream: inout RecordingStream,
    into consumer: inout some EventConsumer
  ) throws -> Bool {
    guard source.load(1) > 0 else { return false }
    try stream.consume(source.loaded(pieceSize), into: &consumer)
    source.consume(source.loaded(pieceSize).byteCount)
    return true
  }
}
