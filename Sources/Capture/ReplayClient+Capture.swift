public import RepriseCore

extension ReplayClient {
  /// Takes a capture or a recording, recognised by content, as a world.
  ///
  /// The file is read to its end once, to find what is wrong with it. A short session is kept then; a long one is
  /// read again while it is replayed, so that memory does not grow with it and the file has to stay as it is. What
  /// comes by standard input can't be read again, and is kept however long it is.
  /// - Parameters:
  ///   - path: The file; `-` is standard input.
  ///   - selection: Whose part of the session is replayed.
  ///   - input: What the user says about the traffic.
  ///   - options: How to compare, to wait and to tell the time; the file is the source if none is named.
  ///   - note: Takes what was lost or left out, one sentence each; a file that is cut is replayed to the cut.
  /// - Throws: ``/Capture/CaptureError`` and `RecordingError` when nothing can be read, and `DataClientError`
  ///   when the session does not have the client, or several; the descriptions begin with the file.
  public convenience init(
    contentsOf path: String, of selection: ReplaySelection = .only,
    input: InputOptions = InputOptions(), options: ReplayOptions = ReplayOptions(),
    noting note: (String) -> Void = { _ in }
  ) throws {
    var options = options
    if options.source == nil { options.source = ShellWord.quoted(path) }
    let name = path == "-" ? "standard input" : path
    do {
      var events = ReplayEvents(of: selection, rereading: SessionFile(path, options: input))
      let summary = try SessionInput.read(path, options: input, into: &events)
      for sentence in summary.notes { note(sentence) }
      try self.init(events, options: options)
    } catch var error as DataClientError {
      error.message = "\(name): \(error.message)"
      throw error
    }
  }
}
