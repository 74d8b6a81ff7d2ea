import Glibc

/// What takes bytes from outside: each decoder, reader and script of the package, by itself.
///
/// A run traps when a promise is broken, be it one of Swift's or one that the target checks: what is written can be
/// read, and says the same.
public enum FuzzTarget: String, CaseIterable, Sendable {
  /// A stream of MQTT control packets, in every version.
  case packets
  /// A stream of WebSocket frames, with and without permessage-deflate.
  case frames
  /// The heads of HTTP messages, as requests for WebSocket and as answers.
  case heads
  /// Both directions of a connection of HTTP, in pieces of any size.
  case http
  /// A capture file: pcap or pcapng, gzip or not.
  case capture
  /// A recording.
  case recording
  /// JSON.
  case json
  /// Text in which secrets are hidden.
  case secrets
  /// The expression of `--filter`.
  case filter
  /// The scripts of the simulated cloud and of its request server, and answers in local files.
  case scripts
  /// Times, topics and topic filters.
  case words

  /// Runs the target once.
  /// - Parameter bytes: Any bytes.
  public func run(_ bytes: [UInt8]) {
    switch self {
    case .packets: PacketFuzz.run(bytes)
    case .frames: FrameFuzz.run(bytes)
    case .heads: FrameFuzz.runHeads(bytes)
    case .http: HTTPFuzz.run(bytes)
    case .capture: FileFuzz.runCapture(bytes)
    case .recording: FileFuzz.runRecording(bytes)
    case .json: TextFuzz.runJSON(bytes)
    case .secrets: TextFuzz.runSecrets(bytes)
    case .filter: TextFuzz.runFilter(bytes)
    case .scripts: TextFuzz.runScripts(bytes)
    case .words: TextFuzz.runWords(bytes)
    }
  }
}

/// Stops a run whose target does not keep a promise.
func demand(_ isKept: Bool, _ promise: @autoclosure () -> String) {
  guard isKept else { fatalError("broken: \(promise())") }
}
