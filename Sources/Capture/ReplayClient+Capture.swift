public import DataClient

extension ReplayClient {
  /// Reads a capture or a recording, recognised by content, as a world.
  /// - Parameters:
  ///   - path: The file; `-` is standard input.
  ///   - selection: Whose part of the session is replayed.
  ///   - input: What the user says about the traffic.
  ///   - options: How to compare, to wait and to tell the time; the file is the source if none is named.
  /// - Throws: ``CaptureError`` and `RecordingError` when nothing can be read, and `DataClientError`
  ///   when the session does not have the client, or several.
  public convenience init(
    contentsOf path: String, of selection: ReplaySelection = .only,
    input: InputOptions = InputOptions(), options: ReplayOptions = ReplayOptions()
  ) throws {
    var events = ReplayEvents(of: selection)
    _ = try SessionInput.read(path, options: input, into: &events)
    var options = options
    if options.source == nil { options.source = path }
    try self.init(events, options: options)
  }
}
