import Foundation
import RepriseCore
import RepriseTesting
import Synchronization
import Testing

/// A server that a function asks, as a world: each request is answered by what the function returns.
///
/// At most 1,000 requests are unanswered or unread; beyond that they are refused.
final class FunctionClient: DataClient {
  private struct State {
    var openRequests = 0
    var events: [ClientEvent] = []
    var isWoken = false
    /// When the oldest event that nobody has read came.
    var heldTime: Timestamp?
    var isRung = false
    var reader: CheckedContinuation<Void, Never>?

    mutating func take() -> ClientEvent? {
      if isWoken {
        isWoken = false
        return .woken
      }
      guard !events.isEmpty else { return nil }
      openRequests -= 1
      let event = events.removeFirst()
      if events.isEmpty { heldTime = nil }
      return event
    }
  }

  private let state = Mutex(State())
  private let ask: @Sendable (RequestMessage) async throws -> ResponseMessage

  init(_ ask: @escaping @Sendable (RequestMessage) async throws -> ResponseMessage) {
    self.ask = ask
  }

  let capabilities: Capabilities = .requests

  private let start = ContinuousClock.now
  private let day = Int64(Date().timeIntervalSince1970) * 1_000_000_000

  private var clock: Timestamp {
    let (seconds, attoseconds) = (ContinuousClock.now - start).components
    return Timestamp(nanoseconds: day + seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
  }

  var now: Timestamp { state.withLock { $0.heldTime } ?? clock }

  func perform(_ action: ClientAction) async throws {
    guard case .send(let request) = action.kind else {
      throw DataClientError(.unsupported, "this server takes requests only")
    }
    try state.withLock { state in
      guard state.openRequests < 1_000 else {
        throw DataClientError(.transport, "1,000 requests are unanswered or unread")
      }
      state.openRequests += 1
    }
    Task {
      do {
        tell(.response(action.id, try await ask(request)))
      } catch {
        tell(.failed(action.id, .unanswered(.other, "\(error)")))
      }
    }
  }

  func next(before deadline: Timestamp?) async throws -> ClientEvent {
    while true {
      try Task.checkCancellation()
      if let event = state.withLock({ $0.take() }) { return event }
      if let deadline, now >= deadline { return .deadline }
      await pause(until: deadline)
    }
  }

  func wake() {
    state.withLock { $0.isWoken = true }
    ring()
  }

  private func tell(_ event: ClientEvent) {
    let time = clock
    state.withLock { state in
      state.events.append(event)
      state.heldTime = state.heldTime ?? time
    }
    ring()
  }

  /// Lets the reader look again for what there is.
  private func ring() {
    let reader = state.withLock { state in
      let reader = state.reader.take()
      state.isRung = reader == nil
      return reader
    }
    reader?.resume()
  }

  /// Waits for a ring, which also the deadline and the end of the task give.
  private func pause(until deadline: Timestamp?) async {
    let timer = deadline.map { deadline in
      Task {
        try await Task.sleep(for: .nanoseconds(deadline.nanoseconds(since: now)))
        ring()
      }
    }
    defer { timer?.cancel() }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let hasRung = state.withLock { state in
          guard !state.isRung else {
            state.isRung = false
            return true
          }
          state.reader = continuation
          return false
        }
        if hasRung { continuation.resume() }
      }
    } onCancel: {
      ring()
    }
  }
}

@Suite struct FunctionClientTests {
  @Test(.timeLimit(.minutes(1))) func isADataClient() async throws {
    let outcomes = try await DataClientConformance.check {
      FunctionClient { _ in ResponseMessage(body: Array("{}".utf8)) }
    }
    #expect(outcomes[.answersRequests] == .kept)
    #expect(outcomes[.answersPublish] == .notApplicable)
  }

  @Test func carriesAnAppsRequests() async throws {
    let client = FunctionClient { request in
      guard request.path == "weather" else { return ResponseMessage(status: 404, body: []) }
      return ResponseMessage(body: Array(#"{"degrees":21}"#.utf8))
    }
    let weather = try await client.send(WeatherRequest(city: "Hangzhou"), timeout: .seconds(5))
    #expect(weather.degrees == 21)
  }

  /// What it may not do any more: nothing comes of a request that can't be made.
  @Test func isAskedForNothingElse() async throws {
    let client = FunctionClient { _ in ResponseMessage(body: []) }
    await #expect(throws: DataClientError.self) {
      try await client.perform(ClientAction(.init(rawValue: 1), .disconnect))
    }
  }
}
