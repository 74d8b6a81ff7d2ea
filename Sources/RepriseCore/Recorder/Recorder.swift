import Synchronization

/// Records what comes on topics, as long as a plan says, over as many connections as it takes.
///
/// ``run()`` records; ``close(after:)`` ends connection and recording in good order, also when the
/// task of `run()` was cancelled.
package final class Recorder<Client: DataClient, Sink: ByteSink & Sendable>: Sendable {
  private let client: Client
  private let recording: RecordingClient<Client, Sink>
  private let machine: Mutex<RecorderMachine>
  private let interval: Duration?
  private let tell: @Sendable (RecorderNotice) throws -> Void

  /// How many events that wait are still recorded when the user wants to end; a server that never
  /// pauses must not keep a recorder from its end.
  private static var lastEvents: Int { 10_000 }

  /// Creates a recorder.
  /// - Parameters:
  ///   - client: The client, not connected.
  ///   - recording: What records this client.
  ///   - plan: What to record.
  ///   - interval: How often to tell of progress; nil is never.
  ///   - tell: What is told what happens; what it throws ends the recording.
  package init(
    _ client: Client, recording: RecordingClient<Client, Sink>, plan: RecorderPlan,
    progressEvery interval: Duration? = nil,
    tell: @escaping @Sendable (RecorderNotice) throws -> Void = { _ in }
  ) {
    self.client = client
    self.recording = recording
    self.interval = interval
    self.tell = tell
    machine = Mutex(RecorderMachine(plan))
  }

  /// How many messages are recorded.
  package var messages: Int { machine.withLock { $0.messages } }

  /// Connects and records until the plan is fulfilled; the connection stays open.
  /// - Returns: Why it is over.
  /// - Throws: ``RecorderError``, ``DataClientError`` when nothing can be written or the client is
  ///   broken, and `CancellationError`.
  package func run() async throws -> RecorderEnd {
    var progressAt = interval.map(client.now.advanced(by:))
    var outputs = handle(.started)
    while true {
      if let end = try await perform(outputs) { return end }
      if let time = progressAt, let interval, time <= client.now {
        progressAt = client.now.advanced(by: interval)
        try tell(.progress(messages: messages))
      }
      let deadline = machine.withLock { $0.deadline }
      do {
        let event = try await recording.next(
          before: [deadline, progressAt].compactMap { $0 }.min())
        outputs = handle(.received(event))
      } catch let error as DataClientError where error.code == .recordingFull {
        return .size
      }
    }
  }

  /// Does what the machine wants done.
  /// - Returns: Why recording is over, if it is.
  private func perform(_ outputs: [RecorderMachine.Output]) async throws -> RecorderEnd? {
    var outputs = outputs[...]
    while let output = outputs.popFirst() {
      switch output {
      case .perform(let action):
        do {
          try await recording.perform(action)
        } catch let error as DataClientError where error.code == .notConnected {
          // The end of the connection is on its way, and will be told.
          continue
        } catch let error as DataClientError where error.code == .transport {
          outputs += handle(.refused(error))
        } catch let error as DataClientError where error.code == .recordingFull {
          return .size
        }
      case .tell(let notice): try tell(notice)
      case .startNextFile: try recording.startNextFile()
      case .end(let end): return end
      case .fail(let error): throw error
      }
    }
    return nil
  }

  private func handle(_ input: RecorderMachine.Input) -> [RecorderMachine.Output] {
    machine.withLock { $0.handle(input, now: client.now) }
  }

  // MARK: The end

  /// Closes the connection and ends the recording.
  /// - Parameter end: What ``run()`` returned; nil if it was cancelled, and then what has come is still
  ///   recorded.
  /// - Throws: ``DataClientError``; and `CancellationError` when this task is cancelled too.
  package func close(after end: RecorderEnd?) async throws {
    if end == nil { try await recordWhatWaits() }
    if machine.withLock({ $0.isOpen }) {
      let goodbye = ClientAction(.goodbye, .disconnect)
      do {
        // What is full has no room for the packet, and without it the connection went on.
        if end == .size {
          try await client.perform(goodbye)
        } else {
          try await recording.perform(goodbye)
        }
        try await awaitEnd(isRecorded: end != .size)
      } catch let error as DataClientError where error.code == .notConnected {
        // It has closed by itself.
      } catch let error as DataClientError where error.code == .recordingFull {}
    }
    try recording.finish()
  }

  private func recordWhatWaits() async throws {
    do {
      for _ in 0..<Self.lastEvents {
        let event = try await recording.next(before: client.now)
        _ = handle(.received(event))
        if event == .deadline || event == .ended { return }
      }
    } catch let error as DataClientError where error.code == .recordingFull {
      return
    }
  }

  /// Waits for the end of the connection; what else comes is no longer recorded.
  private func awaitEnd(isRecorded: Bool) async throws {
    let deadline = client.now.advanced(by: .seconds(6))
    while true {
      let event = try await client.next(before: deadline)
      switch event {
      case .closed:
        if isRecorded { try recording.note(event) }
        return
      case .deadline, .ended: return
      default: continue
      }
    }
  }
}
