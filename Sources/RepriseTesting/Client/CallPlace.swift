import Synchronization

#if canImport(Runtime)
  import Runtime
#endif

/// Finds the line of a test that a call came from.
enum CallPlace {
  /// How far up the calls are looked through.
  private static let depth = 64
  /// The symbols of a large program take seconds and hundreds of megabytes to be read, each time.
  private static let turn = Mutex(())

  /// Returns the innermost line of a file among the calls that lead here, through suspensions too.
  /// - Parameter path: The file.
  /// - Returns: The line, from 1; nil where the calls of the task don't come through the file, or where the system
  ///   can't tell.
  static func line(in path: String) -> Int? {
    #if canImport(Runtime)
      guard let calls = try? Backtrace.capture(limit: depth, top: 0),
        let frames = turn.withLock({ _ in
          calls.symbolicated(options: [.showSourceLocations, .useSymbolCache])?.frames
        })
      else { return nil }
      for frame in frames {
        guard let place = frame.symbol?.sourceLocation, place.path == path, place.line > 0 else {
          continue
        }
        return place.line
      }
    #endif
    return nil
  }
}
