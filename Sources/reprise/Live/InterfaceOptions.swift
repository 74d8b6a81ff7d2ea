import Capture
import Glibc
import RepriseCore

/// How an interface is captured, in every command that does that.
struct InterfaceOptions {
  /// The option of commands that read files otherwise.
  static let interface = OptionSpec(
    name: "interface", value: "NAME",
    help: "Captures a network interface instead of reading files, see below.")
  static let count = OptionSpec(name: "count", value: "N", help: "Ends after N frames.")
  static let buffer = OptionSpec(
    name: "buffer", value: "SIZE",
    help: "What the system keeps of frames that wait: 1M to 1G; 16M (default).")
  static let promiscuous = OptionSpec(
    name: "promiscuous", help: "Captures frames that are for other computers, too.")
  private static let snapLength = OptionSpec(
    name: "snaplen", value: "BYTES",
    help: "Captures so much of each frame only, 64 to 262144; all of it (default).")
  private static let filter = OptionSpec(
    name: "filter", value: "EXPRESSION", help: "The same as --bpf.")

  /// The options of a command that records.
  static let recording = [
    OptionSpec(
      name: "bpf", value: "EXPRESSION",
      help: "Captures only the frames that match, in libpcap's language: 'tcp port 1883'."),
    filter, RecordSettings.duration, count,
  ]
  /// More of them.
  static let tuning = [snapLength, buffer, promiscuous]
  /// The options of a command that reads files otherwise.
  static let live = [interface, RecordSettings.duration, count, buffer, promiscuous]

  /// The interface.
  let name: String
  /// How long it is captured.
  let duration: Duration?
  /// How many frames are captured.
  let count: Int?
  /// What is captured.
  var filter: String? { options.filter }
  private var options = InterfaceCapture.Options()

  /// Reads the options.
  /// - Parameters:
  ///   - name: The interface.
  ///   - arguments: What was typed.
  ///   - filter: What is captured of it.
  /// - Throws: ``UsageError``.
  private init(
    _ name: String, _ arguments: Arguments, filter: String?
  ) throws(UsageError) {
    self.name = name
    duration = try arguments.duration(RecordSettings.duration)
    count = try arguments.count(Self.count)
    options.filter = filter
    options.isPromiscuous = arguments.has(Self.promiscuous)
    if let size = try arguments.size(Self.buffer) {
      guard (1 << 20...1 << 30).contains(size) else {
        throw UsageError("--buffer is not in 1M to 1G", "type a size in between: 64M")
      }
      options.bufferSize = size
    }
  }

  /// Reads the options of a command that records.
  /// - Parameter arguments: What was typed.
  /// - Throws: ``UsageError``.
  init(recording arguments: Arguments) throws(UsageError) {
    let filters = Set([arguments.value(.bpf), arguments.value(Self.filter)].compactMap(\.self))
    guard filters.count < 2 else {
      throw UsageError("--bpf and --filter say the same here", "leave one of them out")
    }
    try self.init(arguments.operand, arguments, filter: filters.first)
    guard let bytes = try arguments.count(Self.snapLength) else { return }
    guard (64...InterfaceCapture.Options.longestSnap).contains(bytes) else {
      throw UsageError(
        "--snaplen is not in 64 to \(InterfaceCapture.Options.longestSnap)",
        "type a number in between")
    }
    options.snapLength = bytes
  }

  /// Reads the options of a command that reads files otherwise; nil when it does.
  /// - Parameters:
  ///   - arguments: What was typed.
  ///   - spec: What the command takes.
  /// - Throws: ``UsageError``, also where neither files nor an interface are named.
  init?(live arguments: Arguments, for spec: CommandSpec) throws(UsageError) {
    guard let name = arguments.value(Self.interface) else {
      for option in Self.live where arguments.has(option) {
        throw UsageError("--\(option.name) is for --interface", "add --interface NAME")
      }
      guard !arguments.operands.isEmpty else {
        throw UsageError("\(spec.name) needs FILE... or --interface NAME", spec.helpHint)
      }
      return nil
    }
    if let file = arguments.operands.first {
      throw UsageError(
        "--interface can't go together with a file, but there is '\(file)'",
        "leave one of them out")
    }
    try self.init(name, arguments, filter: arguments.value(.bpf))
  }

  /// Begins to capture.
  /// - Throws: ``CaptureError``, and ``ToldError`` where the right to it is missing.
  func open() throws -> InterfaceCapture {
    // A filter is looked at before any right is asked for.
    if let filter {
      do throws(CaptureError) { _ = try PacketFilter(filter) } catch {
        throw ToldError(description: "--bpf: \(error.reason)")
      }
    }
    do throws(CaptureError) {
      return try InterfaceCapture(name, options)
    } catch {
      guard error.code == .permissionDenied else { throw error }
      throw ToldError(
        description: "\(name): this user may not capture; give the command the right to it: "
          + "sudo setcap cap_net_raw,cap_net_admin+eip \(ShellWord.quoted(Self.program))")
    }
  }

  /// Where this program lies.
  private static var program: String {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &path, path.count)
    return String(decoding: path.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
