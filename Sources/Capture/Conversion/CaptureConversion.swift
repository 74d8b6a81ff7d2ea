package import RepriseCore

/// What a first reading of a capture finds out for its conversion.
package struct CaptureSurvey {
  /// All connections that were recognised; those that are wanted are to be chosen.
  package var connections = ChosenConnections()
  /// The connections that can be decrypted.
  fileprivate(set) var decrypted = ChosenConnections()
  /// What the key logs hold that the user names.
  fileprivate var keyLog: [UInt8] = []
  /// The secrets that other keys gave, by the randoms of the clients.
  fileprivate var derived: [[UInt8]: [TLSKeyLog.Label: [UInt8]]] = [:]
  /// The connections that secrets may be of, by the randoms of their clients.
  fileprivate var secretUses: [[UInt8]: FlowOpening] = [:]
  /// How many connections can be decrypted.
  package fileprivate(set) var decryptedCount = 0
  /// What was read, with notes.
  package fileprivate(set) var summary = InputSummary()
}

/// Writes a capture as another capture, or parts of it.
package struct CaptureConversion {
  /// What is written.
  package struct Plan {
    /// What is chosen, and what is to be replaced; nil where the frames need not be known.
    package var survey: CaptureSurvey?
    /// Whether only frames of chosen connections are written.
    package var choosesConnections = false
    /// Whether decrypted connections are written in plain.
    package var isPlain = false
    /// Whether those have the ports by which Wireshark knows what they speak.
    package var usesKnownPorts = false
    /// Tells whether a moment is wanted; nil wants all.
    package var isWanted: ((Timestamp?) -> Bool)?

    /// Creates a plan that writes everything.
    package init() {}

    /// The lines of the key logs that are of connections which are written, and those that the server's key or a
    /// pre-shared one gave of connections which they decrypt.
    package var secrets: [UInt8] {
      guard let survey else { return [] }
      let written = randoms
      let decrypted = survey.derived.filter { random, _ in
        guard written.contains(random), let opening = survey.secretUses[random] else {
          return false
        }
        return survey.decrypted.contains(opening.first, opening.second, in: opening.arrival.frame)
      }
      return KeyLogExcerpt.of(survey.keyLog, for: written) + KeyLogExcerpt.lines(decrypted)
    }

    /// The randoms of the clients whose connections are written: secrets of others stay with who has them.
    package var randoms: Set<[UInt8]> {
      guard let survey else { return [] }
      let written = survey.secretUses.filter { _, opening in
        !choosesConnections
          || survey.connections.contains(opening.first, opening.second, in: opening.arrival.frame)
      }
      return Set(written.keys)
    }
  }

  private let path: String
  private let options: InputOptions

  /// Prepares to convert a file.
  /// - Parameters:
  ///   - path: The file; `-` is standard input, which can be read once only.
  ///   - options: What the user says about the traffic.
  package init(_ path: String, _ options: InputOptions) {
    self.path = path
    self.options = options
  }

  /// Tells which kind of capture a file is; nil for a recording.
  /// - Throws: ``CaptureError`` where it is nothing that is read.
  package static func captureFormat(_ path: String) throws(CaptureError) -> CaptureFormat? {
    do throws(CaptureError) {
      var source = try ByteSource(path: path)
      let format = try CaptureFormat.detect(in: &source)
      return format == .recording ? nil : format
    } catch { throw error.inFile(path) }
  }

  /// Whether the file has secrets in it.
  package var hasSecrets: Bool {
    (try? Self.captureFormat(path)) == .pcapng && !EmbeddedSecrets.all(in: path).isEmpty
  }

  /// The time of the first frame that the capture filter lets through; nil where it has none.
  package var firstTime: Timestamp? {
    get throws(CaptureError) {
      var reader = try CaptureReader(path: path)
      var filter: PacketFilter?
      if let bpf = options.bpf { filter = try PacketFilter(bpf) }
      while let frame = try reader.next() {
        if filter == nil { return frame.time }
        if try filter?.matches(frame) == true { return frame.time }
      }
      return nil
    }
  }

  /// Reads the file for the first time.
  /// - Parameters:
  ///   - isWritten: Tells whether what comes at a moment is written.
  ///   - consumer: Takes the events, and may choose connections.
  /// - Returns: What there is.
  /// - Throws: ``CaptureError``, and what the consumer throws.
  package func survey(
    isWritten: @escaping (Timestamp) -> Bool = { _ in true },
    _ consumer: (borrowing EventView, inout ChosenConnections) throws -> Void
  ) throws -> CaptureSurvey {
    try withoutActuallyEscaping(consumer) { consumer in
      var survey = CaptureSurvey()
      try withUnsafeMutablePointer(to: &survey) { survey in
        let emitter = SessionEmitter { event in
          if case .opened(let opening) = event.body {
            survey.pointee.connections.note(opening, event.context.connection)
          }
          try consumer(event, &survey.pointee.connections)
        }
        let plain = PlainStreams { _, _, _, _ in }
        var reader: CaptureReader? = try CaptureReader(path: path, counting: options.count)
        guard let opened = reader.take() else { return }
        var session = try CaptureSession(
          opened, options, emitter, rereading: [path], plain: plain, isWritten: isWritten)
        while try session.read(.max) {}
        survey.pointee.summary = try session.finish()
        survey.pointee.connections.finish()
        for (number, found) in plain.found.enumerated() {
          let opening = found.opening
          survey.pointee.decrypted.note(
            opening.first, opening.second, from: opening.arrival.frame, number)
          survey.pointee.decrypted.choose(number)
        }
        survey.pointee.decryptedCount = plain.found.count
        for path in options.keyLogs {
          guard let bytes = try? TLSKeyLogFile(path).read() else { continue }
          // A last line may lack its end.
          survey.pointee.keyLog += bytes + [UInt8(ascii: "\n")]
        }
        survey.pointee.secretUses = session.secrets.uses
        survey.pointee.derived = session.secrets.derived
      }
      return survey
    }
  }

  /// Writes the file anew.
  /// - Parameters:
  ///   - copier: Writes frames and blocks.
  ///   - plan: What is written.
  /// - Throws: ``CaptureError``, and what the copier's sink throws.
  /// - Returns: Why the file was read to some place only; nil if it was read to its end.
  @discardableResult
  package func write(_ copier: CaptureCopier, _ plan: Plan) throws -> CaptureError? {
    var filter: PacketFilter?
    if let bpf = options.bpf { filter = try PacketFilter(bpf) }
    let chooser = FrameChooser(plan, filter)
    var reader = try CaptureReader(path: path, counting: options.count)
    var decryption: Decryption?
    if plan.isPlain { decryption = try Decryption(path, reader, options, copier, chooser, plan) }
    do {
      try copier.copy(&reader) { frame in
        decryption?.take(frame)
        return try chooser.choose(frame)
      }
    } catch let error as CaptureError where reader.framesRead > 0 {
      // Of a file that is damaged, what stands before the place is written.
      guard ![.invalidFilter, .unsupportedLinkType].contains(error.code) else { throw error }
      decryption?.finish()
      try copier.finish()
      return error
    }
    decryption?.finish()
    try copier.finish()
    return nil
  }
}

/// Decrypts while frames are copied, and has the plain connections written among them.
private final class Decryption {
  private var session: FrameSession

  init(
    _ path: String, _ reader: borrowing CaptureReader, _ options: InputOptions,
    _ copier: CaptureCopier, _ chooser: FrameChooser, _ plan: CaptureConversion.Plan
  ) throws(CaptureError) {
    let isReadAhead = reader.format == .pcapng
    let secrets = try TLSSecrets(
      options, embedded: reader.embeddedSecrets,
      lookAhead: isReadAhead ? { EmbeddedSecrets.all(in: path) } : nil)
    let plain = PlainStreams(
      of: { chooser.isWanted($0) }, usesKnownPorts: plan.usesKnownPorts
    ) { time, comments, header, payload in
      guard chooser.isWanted(time) else { return }
      copier.addPacket(at: time, comments: comments, header, payload)
    }
    session = FrameSession(options, secrets, plain: plain, SessionEmitter { _ in })
  }

  func take(_ frame: borrowing Frame) { session.take(frame) }

  /// Ends all connections; a capture that can't be read is told by whoever reads it for its frames.
  func finish() { _ = try? session.finish(frames: 0) }
}
