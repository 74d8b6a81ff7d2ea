import Capture
import LiveClient
import RepriseCore

/// `reprise record interface`: records what passes a network interface.
enum RecordInterfaceCommand: Command {
  static let spec = CommandSpec(
    name: "record interface", summary: "Records the frames of a network interface.",
    operands: "NAME", operandCount: 1...1,
    options: [CaptureFileSettings.output] + InterfaceOptions.recording
      + CaptureFileSettings.options + InterfaceOptions.tuning + [ProxySettings.conform],
    missing: RecordCommand.missing,
    details: """
      NAME is an interface of this computer, such as eth0 or lo, or any for all of them; a name
      that is none is answered with those that there are. Without --bpf all frames are captured,
      and all of each frame.

      To capture is a right. Root has it; others get it with the command, once:
        sudo setcap cap_net_raw,cap_net_admin+eip $(readlink -f $(command -v reprise))
      What root starts gives all other rights up when the interface and the file are open: it
      goes on as the user who called sudo, whose the file is then, or else as nobody. Where the
      next files of --rotate could not be written so, it stays root's and says that.

      The capture is pcapng, with nanoseconds where the system has them, the filter and the
      command that made it; Wireshark reads it, as inspect and conform trace do. It tells at its
      end how many frames came and how many were dropped. Whatever happens, what was seen is in
      the file a moment later. Only its owner may read it: passwords that pass are in it.

      With --rotate -o day.pcapng the files are called day-0001.pcapng, day-0002.pcapng and
      so on; numbers that exist are passed over, or replaced with --force. Each file can be
      read alone; of connections that began in an earlier one it has the rest.

      With --conform violations of MQTT and WebSocket are printed as they come, as those of
      conform trace on the capture, and its report behind them. Frames count over all files.

      Status: 0 when --duration, --count or --max-size ended it, 2 when NAME can't be captured,
      or not any more, or nothing more could be written, 130 interrupted, 143 terminated. With
      --conform 1 where a clause is violated, and 2 where none had anything to judge.

      Examples:
        reprise record interface eth0 --bpf 'tcp port 1883' -o field.pcapng
        reprise record interface any --duration 1h --rotate --interval 10m -o day.pcapng
        reprise record interface lo -o - | reprise inspect -
      """)

  static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
    let settings = try CaptureFileSettings(arguments, for: spec.name, "this command")
    let options = try InterfaceOptions(recording: arguments)
    let judges = arguments.has(ProxySettings.conform)
    if judges { try settings.checkCanJudge() }
    let file = try settings.makeFile()
    let judge = judges ? try judge(settings.path, console) : nil
    let capture = try options.open()
    try file.open()
    LeastRights.keep(for: need(settings), options.name, console) { file.give(to: $0) }
    console.note(options.name, "capturing to \(settings.shownPath)")
    let words = ["reprise"] + CommandLine.arguments.dropFirst()
    let recorder = try InterfaceRecorder(
      capture, filter: options.filter, to: file, by: "Reprise \(Reprise.version)",
      comments: [words.map(ShellWord.quoted).joined(separator: " ")],
      rotation: settings.rotation(of: file), at: LiveClock().now)
    let status = InterfaceStatus(
      capture, to: file, named: settings.shownPath, duration: options.duration, console)
    // The status line is gone before a report begins.
    let taps: [any InterfaceTap] = [RecorderTap(recorder), status] + (judge.map { [$0] } ?? [])
    do {
      try InterfaceLoop(capture, taps, duration: options.duration, count: options.count).run()
    } catch {
      // What it threw last does not hide why it ended.
      try? file.close()
      throw error
    }
    try file.close()
    return judge?.status ?? .done
  }

  private static func judge(_ path: String, _ console: Console) throws -> InterfaceJudge {
    let judge = try LiveJudge(path, tellingTo: .standard, console)
    return InterfaceJudge(judge, path, console) { try LiveJudge.conclude($0, console) }
  }

  /// What is still to be created once the first file is open.
  private static func need(_ settings: CaptureFileSettings) -> LeastRights.Need {
    guard settings.rotates else { return .nothing }
    let folder = settings.path.lastIndex(of: "/").map { String(settings.path[...$0]) } ?? "."
    return .files(in: folder, replaces: settings.replaces)
  }
}

/// Writes down what an interface brings.
private final class RecorderTap: InterfaceTap {
  private var recorder: InterfaceRecorder

  init(_ recorder: InterfaceRecorder) { self.recorder = recorder }

  func take(_ frame: borrowing Frame, at time: Timestamp) { recorder.take(frame, at: time) }
  func settle(_ time: Timestamp) throws -> Timestamp? { try recorder.settle(time) }
  var isFull: Bool { recorder.isFull }
  func finish(_ time: Timestamp) throws { try recorder.finish(time) }
}
