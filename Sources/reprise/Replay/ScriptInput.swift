import Capture
import RepriseCore
import SessionReplay

/// The session of a file, for who replays connections of it.
enum ScriptInput {
  /// Reads a file; one that can't be read or replayed is told.
  /// - Parameters:
  ///   - file: The file.
  ///   - options: What of it is replayed.
  ///   - arguments: Where `--bpf`, `--decode`, `--memory` and the keys stand.
  ///   - console: How to tell the user about errors and notes.
  /// - Returns: What both ends do; nil where nothing can be replayed.
  /// - Throws: ``UsageError`` for an option that can't be understood, and ``Interrupted``.
  static func read(
    _ file: String, _ options: SessionOptions, _ arguments: Arguments, _ console: Console
  ) throws -> SessionScript? {
    // Half of all is for what is read at a time.
    let memory = try arguments.memory() / 2
    var gathering = Gathering(
      reader: ScriptReader(options.selection, within: options.window, limit: memory))
    let run = try InputRun([file], arguments, console, output: nil)
    guard try run.read(into: &gathering) == 0 else { return nil }
    do {
      let script = try gathering.reader.script()
      for note in script.notes { console.note(file, note) }
      return script
    } catch {
      console.error("\(file): \(error)")
      return nil
    }
  }
}

/// Hands the events of one file to the reader of scripts.
private struct Gathering: SessionConsumer {
  var reader: ScriptReader

  mutating func beginFile(_ name: String) {}
  mutating func consume(_ event: borrowing EventView) { reader.consume(event) }
  mutating func endFile() {}
}
