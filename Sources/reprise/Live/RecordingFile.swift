import RepriseCore
import Synchronization

/// The files of a recording that goes on while it is written.
///
/// Nothing is created before there is a connection, so that a mistyped command leaves no trace. From
/// then on every line is in the file when the call returns.
final class RecordingFile: ByteSink, Sendable {
  /// What one file is called, or the next.
  private struct Names {
    let path: String
    let isNumbered: Bool
    private(set) var number = 0

    init(_ path: String, isNumbered: Bool) {
      self.path = path
      self.isNumbered = isNumbered
    }

    /// `day.jsonl`, or `day-0001.jsonl` and so on.
    mutating func next() -> String {
      guard isNumbered else { return path }
      number += 1
      let digits = String(number)
      let padded = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
      let start = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
      guard let dot = path[start...].lastIndex(of: "."), dot > start else {
        return "\(path)-\(padded)"
      }
      return "\(path[..<dot])-\(padded)\(path[dot...])"
    }
  }

  private struct State {
    var names: Names
    var output: OutputFile?
    /// What was written before there was a file.
    var waiting: [UInt8]? = []
    var total = 0
    var files: [String] = []
    var failure: (any Error)?
  }

  private let replaces: Bool
  private let state: Mutex<State>

  /// Checks whether the file could be written.
  /// - Parameters:
  ///   - path: The file; `-` is standard output.
  ///   - isNumbered: Whether there is one file after the other, with a number in its name.
  ///   - replaces: Whether files that exist are replaced; of numbered ones, those are passed over that
  ///     are not.
  /// - Throws: ``OutputError``.
  init(_ path: String, isNumbered: Bool, replaces: Bool) throws(OutputError) {
    var names = Names(path, isNumbered: isNumbered)
    do throws(OutputError) {
      try OutputFile.check(names.next(), replaces: replaces)
    } catch {
      guard error.isTaken, isNumbered else { throw error }
    }
    self.replaces = replaces
    state = Mutex(State(names: Names(path, isNumbered: isNumbered)))
  }

  /// The files that were written, in order.
  var files: [String] { state.withLock { $0.files } }

  /// How many bytes were written, in all files together.
  var bytes: Int { state.withLock { $0.total } }

  /// Why nothing more could be written, if that is so.
  var failure: (any Error)? { state.withLock { $0.failure } }

  /// Writes lines, or keeps them until ``open()``.
  /// - Throws: ``OutputError``; the file is complete to the line before.
  func write(_ bytes: RawSpan) throws {
    try bytes.withUnsafeBytes { bytes in
      try change { state in
        if state.waiting != nil {
          state.waiting? += bytes
        } else {
          try Self.write(bytes.bytes, &state)
        }
      }
    }
  }

  /// Creates the file, and writes what waits for it; does nothing if that is done.
  /// - Throws: ``OutputError``.
  func open() throws {
    try change { try Self.open(&$0, replaces: replaces) }
  }

  /// Gives a file that was created here, and not one that was replaced, to a user.
  func give(to user: SystemUser) { state.withLock { $0.output?.give(to: user) } }

  /// Ends the file and goes on in the next one.
  /// - Throws: ``OutputError``.
  func startNext() throws {
    try change { state in
      try Self.open(&state, replaces: replaces)
      try state.output?.close()
      state.output = nil
      try Self.openNext(&state, replaces: replaces)
    }
  }

  /// Ends the last file.
  /// - Throws: ``OutputError``.
  func close() throws {
    try change { state in
      try state.output?.close()
      state.output = nil
    }
  }

  private func change(_ body: (inout State) throws -> Void) throws {
    let failure = state.withLock { state -> (any Error)? in
      do {
        try body(&state)
        return nil
      } catch {
        state.failure = state.failure ?? error
        return error
      }
    }
    if let failure { throw failure }
  }

  private static func open(_ state: inout State, replaces: Bool) throws {
    guard let waiting = state.waiting else { return }
    try openNext(&state, replaces: replaces)
    state.waiting = nil
    try write(waiting.span.bytes, &state)
  }

  private static func openNext(_ state: inout State, replaces: Bool) throws {
    while true {
      let name = state.names.next()
      do throws(OutputError) {
        let output = try OutputFile(name, inputs: [], isPrivate: true, replaces: replaces)
        try output.open()
        state.output = output
        state.files.append(name)
        return
      } catch {
        // A file that somebody has is passed over, not lost.
        guard error.isTaken, state.names.isNumbered else { throw error }
      }
    }
  }

  private static func write(_ bytes: RawSpan, _ state: inout State) throws {
    guard let output = state.output else { return }
    try output.write(bytes)
    state.total += bytes.byteCount
  }
}
