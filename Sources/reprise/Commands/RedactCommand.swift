import Capture
import RepriseCore

/// `reprise redact`: hides secrets in captures and recordings.
enum RedactCommand: Command {
  private static let output = OptionSpec(
    name: "output", letter: "o", value: "FILE", isFile: true,
    help: "The file to write, of the same format; - is standard output. Needed.")
  private static let force = OptionSpec(name: "force", help: "Replaces FILE if it exists.")

  static let spec = CommandSpec(
    name: "redact", summary: "Hides secrets in captures and recordings.",
    operands: "FILE", operandCount: 1...1,
    options: [output, force, .redact, .decode, .memory],
    details: """
      Hides passwords, tokens and signatures, and what --redact names besides, so that a
      file can be given away. The new file is of the same format as the old one.

      In a capture everything keeps its place and its length: stars stand where secrets
      were, masked where the payload is, and checksums are right. Where bytes come that can't
      be read, which may hold anything, frames end early, as by a snapshot length: so do
      fragments of IP packets, UDP that is not all text, ICMP and other protocols, behind
      their headers. Of TCP that is neither MQTT nor WebSocket, text is looked through as a
      stream. TLS stays encrypted, and secrets in a pcapng file that decrypt it are left out,
      as are its blocks of unknown kinds; in comments, too, what looks like a secret is hidden.

      In a recording *** stands in the place of what is hidden. Keys that reprise does not
      know are left out, as they may hold anything.

      Examples:
        reprise redact customer.pcapng -o public.pcapng
        reprise redact session.jsonl -o public.jsonl --redact topic:plant/# --redact username
      """)

  static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
    guard let path = arguments.value(output) else {
      throw UsageError("redact needs a file to write", "add -o FILE")
    }
    let input = arguments.operand
    let rules = try RedactionRules(arguments, hidesSecrets: true)
    var options = try InputOptions(arguments)
    let output = try OutputFile(
      path, inputs: [input], isPrivate: true, replaces: arguments.has(force))
    do {
      let file = try InputCopy(input)
      let format = try CaptureConversion.captureFormat(file.path)
      try check(path, is: format)
      let progress = Progress(
        of: [input], passes: format == nil ? 1 : 2, isWanted: !output.isTerminal, console)
      defer { progress.end() }
      progress.begin(input)
      options.count = progress.bytes
      let notes =
        if let format {
          try redact(file, format, options, rules, output)
        } else {
          try redact(recording: file, input, options, rules, output)
        }
      try output.close()
      progress.end()
      for note in notes { console.note(input, note) }
      return .done
    } catch let error as CaptureError {
      console.error("\(input): \(error.reason)")
    } catch let error as RecordingError {
      console.error("\(input): \(error.reason)")
    }
    return .unable
  }

  /// Checks that the new file is not named as what it is not.
  private static func check(_ path: String, is format: CaptureFormat?) throws(UsageError) {
    let isRecordingName = path.hasSuffix(".jsonl")
    let isCaptureName = path.hasSuffix(".pcap") || path.hasSuffix(".pcapng")
    guard format == nil ? isCaptureName : isRecordingName else { return }
    let (kind, other) = format == nil ? ("recording", ".jsonl") : ("capture", ".pcap or .pcapng")
    throw UsageError(
      "\(path): redact keeps the format, and the input is a \(kind)",
      "name the new file \(other), or let reprise convert write the other format, with --redact")
  }

  private static func redact(
    _ file: InputCopy, _ format: CaptureFormat, _ options: InputOptions, _ rules: RedactionRules,
    _ output: OutputFile
  ) throws -> [String] {
    var copying = CaptureCopier.Options(application: Reprise.application)
    copying.isChanged = true
    copying.hidden = rules
    let copier = CaptureCopier(to: format, copying, output)
    let outcome = try CaptureRedaction(file.path, options, rules).write(copier)
    var notes = ["\(outcome.changed) of \(copier.frames) frames are changed"]
    if outcome.cut > 0 {
      notes.append(
        "\(outcome.cut) frames end early: what they held could not be read, and may hold secrets")
    }
    if outcome.lookedThrough > 0 {
      notes.append(
        "\(outcome.lookedThrough) frames are neither MQTT nor WebSocket: what looks like a secret in "
          + "the text of one is hidden")
    }
    if copier.lost.secrets > 0 {
      notes.append("\(copier.lost.secrets) blocks of secrets that decrypt TLS are left out")
    }
    if copier.lost.blocks > 0 {
      notes.append(
        "\(copier.lost.blocks) blocks of other kinds are left out, which may hold anything")
    }
    if let damage = outcome.damage { notes.append("read up to the damage only: \(damage.reason)") }
    return notes
  }

  private static func redact(
    recording file: InputCopy, _ name: String, _ options: InputOptions, _ rules: RedactionRules,
    _ output: OutputFile
  ) throws -> [String] {
    var copy = RecordingCopy(of: name, to: output, hiding: rules)
    let summary = try SessionInput.read(file.path, options: options, into: &copy)
    try copy.finish(isWhole: true)
    return summary.notes + copy.notes
  }
}
