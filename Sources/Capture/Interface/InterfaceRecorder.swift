#if canImport(CPcap)
  package import RepriseCore

  /// Writes the frames of an interface down as pcapng files.
  package struct InterfaceRecorder {
    /// The most bytes that a packet takes in a file besides its own.
    private static let overhead = 40

    private let capture: InterfaceCapture
    private var files: PcapngFiles
    /// What became of frames before the file that is written to.
    private var before = InterfaceCounts(received: 0)

    /// Begins a file.
    /// - Parameters:
    ///   - capture: What is captured.
    ///   - filter: By which filter that is.
    ///   - sink: Takes the file.
    ///   - application: What writes it, with its version.
    ///   - comments: What is said of each file.
    ///   - rotation: When a file is full.
    ///   - time: The time.
    /// - Throws: What the sink throws.
    package init(
      _ capture: InterfaceCapture, filter: String?, to sink: any ByteSink, by application: String,
      comments: [String], rotation: PcapngFiles.Rotation = PcapngFiles.Rotation(),
      at time: Timestamp
    ) throws {
      self.capture = capture
      let beginning = PcapngFiles.Beginning(application: application, comments: comments) {
        writer in
        writer.addInterface(
          capture.linkType, name: capture.name, description: "reprise record interface",
          snapLength: capture.snapLength, filter: filter)
      }
      files = try PcapngFiles(to: sink, beginning, rotation: rotation, at: time)
    }

    /// Whether the last file has no room for more.
    package var isFull: Bool { files.isFull }

    /// Writes a frame down.
    /// - Parameters:
    ///   - frame: The frame.
    ///   - time: The time, which the frame's may be behind.
    package mutating func take(_ frame: borrowing Frame, at time: Timestamp) {
      let size = frame.bytes.byteCount + Self.overhead
      let packets = files.packets
      var rotated: InterfaceCounts?
      let hasRoom = files.makeRoom(for: size, at: time) { [capture, before] in
        let counts = capture.counts()
        rotated = counts
        return counts.since(before, delivered: packets)
      }
      if let rotated { before = rotated }
      guard hasRoom else { return }
      files.add(
        at: frame.time ?? time, frame.bytes, RawSpan(), wireLength: frame.wireLength)
    }

    /// Writes what has waited long enough, or is much.
    /// - Parameter time: The time.
    /// - Returns: When to ask again; nil when nothing waits.
    /// - Throws: Why packets could not be written.
    package mutating func settle(_ time: Timestamp) throws -> Timestamp? { try files.settle(time) }

    /// Ends the last file.
    /// - Parameter time: The time.
    /// - Throws: Why packets could not be written.
    package mutating func finish(_ time: Timestamp) throws {
      try files.finish(time, capture.counts().since(before, delivered: files.packets))
    }
  }

  extension InterfaceCounts {
    /// What was counted behind earlier numbers.
    fileprivate func since(_ earlier: InterfaceCounts, delivered: UInt64) -> InterfaceCounts {
      InterfaceCounts(
        received: received &- earlier.received,
        droppedByInterface: droppedByInterface.map { $0 &- (earlier.droppedByInterface ?? 0) },
        droppedBySystem: droppedBySystem.map { $0 &- (earlier.droppedBySystem ?? 0) },
        delivered: delivered)
    }
  }
#endif
