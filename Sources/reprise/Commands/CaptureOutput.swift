import Capture
import Glibc
import RepriseCore

/// The part of `reprise convert` that writes captures.
struct CaptureOutput {
  private let format: CaptureFormat
  private let isPlain: Bool
  private let embedsSecrets: Bool
  private let usesKnownPorts: Bool

  /// Prepares to write a capture.
  /// - Parameters:
  ///   - format: ``CaptureFormat/pcap`` or ``CaptureFormat/pcapng``.
  ///   - isPlain: Whether decrypted connections are written in plain.
  ///   - embedsSecrets: Whether the secrets are written with what they decrypt.
  ///   - usesKnownPorts: Whether connections that are made anew have the ports by which Wireshark knows them.
  init(_ format: CaptureFormat, isPlain: Bool, embedsSecrets: Bool, usesKnownPorts: Bool) {
    self.usesKnownPorts = usesKnownPorts
    self.format = format
    self.isPlain = isPlain
    self.embedsSecrets = embedsSecrets
  }

  /// Converts the file that is named.
  /// - Throws: ``UsageError``, ``OutputError`` and ``Interrupted``.
  func run(
    _ arguments: Arguments, path: String, replaces: Bool, _ console: Console
  ) throws -> ExitStatus {
    try check(arguments)
    let input = arguments.operand
    var selection = try Selection(arguments)
    var options = try InputOptions(arguments)
    let output = try OutputFile(path, inputs: [input], isPrivate: true, replaces: replaces)
    let readsTwice = choosesConnections(arguments) || isPlain || embedsSecrets
    let progress = Progress(
      of: [input], passes: readsTwice ? 2 : 1, isWanted: !output.isTerminal, console)
    defer { progress.end() }
    progress.begin(input)
    options.count = progress.bytes
    do {
      let file = try InputCopy(input)
      let isCapture = try CaptureConversion.captureFormat(file.path) != nil
      try Interruption.check()
      let notes =
        isCapture
        ? try convert(file, options, &selection, arguments, output)
        : try write(recording: file, options, &selection, arguments, output)
      try output.close()
      progress.end()
      for note in notes { console.note(input, note) }
      return .done
    } catch let error as CaptureError {
      progress.end()
      return tell(error.reason, error.file, options, input, console)
    } catch let error as RecordingError {
      progress.end()
      return tell(error.reason, nil, options, input, console)
    }
  }

  /// What can't be read may be a key, and not the file.
  private func tell(
    _ reason: String, _ named: String?, _ options: InputOptions, _ input: String,
    _ console: Console
  ) -> ExitStatus {
    let keys = options.keyLogs + [options.serverKey].compactMap(\.self)
    let place = named.flatMap { keys.contains($0) ? $0 : nil } ?? input
    console.error("\(place): \(reason)")
    return .unable
  }

  /// Whether it takes another pass to know which connections are written.
  private func choosesConnections(_ arguments: Arguments) -> Bool {
    arguments.has(.client) || arguments.has(.connection) || !arguments.list(.filter).isEmpty
  }

  private func check(_ arguments: Arguments) throws(UsageError) {
    guard arguments.list(.redact).isEmpty else {
      throw UsageError(
        "--redact is for recordings that are written", "hide secrets in a capture by reprise redact"
      )
    }
    guard !embedsSecrets || arguments.hasKeys else {
      throw UsageError(
        "--embed-secrets needs keys", "add --keylog FILE, --server-key PEM or --psk HEX")
    }
    guard format == .pcapng || !embedsSecrets && !isPlain else {
      throw UsageError(
        "a file of pcap has no place for \(isPlain ? "packets of two kinds" : "secrets")",
        "name a file of pcapng: -o FILE.pcapng")
    }
    guard !isPlain || !embedsSecrets else {
      throw UsageError("--plain and --embed-secrets exclude each other", "leave one of them out")
    }
  }

  // MARK: Captures

  private func convert(
    _ file: InputCopy, _ options: InputOptions, _ selection: inout Selection,
    _ arguments: Arguments, _ output: OutputFile
  ) throws -> [String] {
    let conversion = CaptureConversion(file.path, options)
    var plan = CaptureConversion.Plan()
    plan.choosesConnections = choosesConnections(arguments)
    plan.isPlain = isPlain
    plan.usesKnownPorts = usesKnownPorts
    var notes: [String] = []
    let isInTime = arguments.value(.from) != nil || arguments.value(.to) != nil
    // Of what is left out the secrets are, too.
    let leavesOut = plan.choosesConnections || isInTime || options.bpf != nil
    let narrowsSecrets = leavesOut && conversion.hasSecrets
    let isExpected = plan.choosesConnections || isPlain || embedsSecrets
    if isExpected || narrowsSecrets {
      // Progress knows of the passes that the options ask for.
      var quiet = options
      quiet.count = nil
      let conversion = isExpected ? conversion : CaptureConversion(file.path, quiet)
      let window = try TimeWindow(arguments)
      if isInTime { _ = window.contains(try conversion.firstTime) }
      let survey = try conversion.survey(isWritten: window.contains) { event, connections in
        try Interruption.check()
        try selection.choose(event) { connections.choose($0) }
      }
      plan.survey = survey
      if plan.choosesConnections, survey.connections.numbers.isEmpty {
        notes.append("no connection was chosen; no frame is of one")
      }
      if isPlain || embedsSecrets, survey.decryptedCount == 0 {
        notes += ["nothing could be decrypted"] + survey.summary.notes
      }
    }
    if isInTime { plan.isWanted = try TimeWindow(arguments).contains }
    var copying = CaptureCopier.Options(application: Reprise.application)
    copying.isChanged = plan.survey != nil || plan.isWanted != nil || options.bpf != nil
    copying.addsPackets = isPlain
    if embedsSecrets { copying.secrets = plan.secrets }
    if narrowsSecrets { copying.randoms = plan.randoms }
    let copier = CaptureCopier(to: format, copying, output)
    let cut = try conversion.write(copier, plan)
    return notes + (cut.map { ["read up to the damage only: \($0.reason)"] } ?? [])
      + copier.lost.notes
  }

  // MARK: Recordings

  private func write(
    recording file: InputCopy, _ options: InputOptions, _ selection: inout Selection,
    _ arguments: Arguments, _ output: OutputFile
  ) throws -> [String] {
    guard !isPlain, !embedsSecrets else {
      throw UsageError(
        "a recording is not encrypted", "leave --\(isPlain ? "plain" : "embed-secrets") out")
    }
    var survey = Survey(selection: choosesConnections(arguments) ? selection : nil)
    // Progress knows of the passes that the options ask for.
    var quiet = options
    if survey.selection == nil { quiet.count = nil }
    _ = try SessionInput.read(file.path, options: quiet, into: &survey)
    let window = try TimeWindow(arguments)
    let writer = PacketFile(format, application: Reprise.application, output)
    var packets = RecordingPackets(
      chosen: survey.selection == nil ? nil : survey.chosen, window: window,
      usesKnownPorts: usesKnownPorts, survey.halfCloses, writer)
    let summary = try SessionInput.read(file.path, options: options, into: &packets)
    try packets.finish()
    return summary.notes + packets.notes
  }

  /// Finds the connections that are chosen, and which of them were closed by halves.
  private struct Survey: EventConsumer {
    /// What is chosen; nil is all.
    var selection: Selection?
    var chosen: Set<Int> = []
    var halfCloses = HalfCloses()

    mutating func consume(_ event: borrowing EventView) throws {
      try Interruption.check()
      halfCloses.consume(event)
      guard var selection = selection.take() else { return }
      defer { self.selection = selection }
      var found: [Int] = []
      try selection.choose(event) { found.append($0) }
      chosen.formUnion(found)
    }
  }
}

extension CaptureCopier.Lost {
  /// What was lost, in sentences.
  fileprivate var notes: [String] {
    var notes: [String] = []
    if blocks > 0 {
      notes.append(
        "\(blocks) blocks without a frame (names, comments, statistics, secrets) are left out: "
          + "pcap has no place for them")
    }
    if times > 0 { notes.append("\(times) frames have a time that pcap can't say") }
    return notes
  }
}

extension Selection {
  /// Tells which connections an event makes chosen.
  mutating func choose(_ event: borrowing EventView, _ take: (Int) throws -> Void) throws {
    let isSelected = filter?.matches(event) ?? true
    if let connection, event.context.connection != connection { return }
    guard var client = client.take() else {
      if isSelected { try take(event.context.connection) }
      return
    }
    defer { self.client = client }
    try client.consume(event, isSelected: isSelected) { event, isSelected in
      if isSelected { try take(event.context.connection) }
    }
  }
}
