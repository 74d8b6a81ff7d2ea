import DeviceSDK
import RepriseCore

@testable import ConformanceKit

/// The right machine for requests with one thing wrong, in what goes in or in what comes out.
struct WrongRequests: RequestMachine {
  typealias Call = RequestStateMachine.Call
  typealias Value = RequestStateMachine.Value
  typealias Effect = RequestStateMachine.Effect
  typealias Failure = RequestError
  typealias Input = MachineInput<Call>
  typealias Output = MachineOutput<Value, Effect, Failure>

  enum Defect: String, CaseIterable, Sendable {
    // Frames
    case contentIsAnObject, keysAreUnordered, idsRepeat, methodIsLeftOut, heartbeatsHaveOneID
    // Answers
    case objectsAreUnreadable, anyContentIsGood, errorsAreIgnored, contentWins
    case answersAreTakenInOrder, repeatedAnswersAreTold, lateAnswersAreTold, pushesAreDropped
    case bytesAreDropped, heartbeatAnswersAreTold
    // Requests
    case neverTimesOut, cannotBeTakenBack, sendsWithoutAConnection
    case networkIsNoReason, lostConnectionsLeaveRequestsOpen
    // Connection
    case opensASecondConnection, comesBackAfterAClose, closeLeavesTheTry, neverTriesAgain
    case alwaysWaitsThreeSeconds, triesOnceMore, waitsForeverToOpen, refusalsAreFinal
    case statesAreToldTwice, networkIsNotWaitedFor, returnIsIgnored, returnOpensAnother
    case opensWithoutANetwork, staysGivenUp
    // Heartbeats
    case firstHeartbeatIsMissing, heartbeatsGoOnWithoutNetwork, heartbeatsAreTwo
    // Queue and login
    case queueIsForgotten, queueIsReversed, logsInForEach, isNotSentAfterTheLogin
    case failedLoginsLeaveRequestsOpen
  }

  private static let madeUp = CallID(rawValue: .max)
  private static let extra = ClientAction.ID(rawValue: .max)

  private let defect: Defect
  private var machine: RequestStateMachine
  /// What was sent on the connection and not answered, but for heartbeats.
  private var open: [Int] = []
  private var heartbeats: Set<Int> = []
  private var answered: Set<Int> = []
  private var state = RequestConnectionState.idle
  private var isClosing = false
  private var hasTimedOut = false
  /// How much later than it is the machine believes it to be, in nanoseconds.
  private var shift: Int64 = 0

  init(_ machine: RequestStateMachine, _ defect: Defect) {
    self.machine = machine
    self.defect = defect
  }

  var statistics: RequestStatistics { machine.statistics }

  var deadline: Timestamp? {
    if defect == .neverTimesOut { return nil }
    if defect == .waitsForeverToOpen, state == .connecting { return nil }
    return machine.deadline.map { Timestamp(nanoseconds: $0.nanoseconds - shift) }
  }

  mutating func handle(_ input: Input, now: Timestamp) -> [Output] {
    guard let spoiled = spoil(input) else { return skipped(input) }
    let now = Timestamp(nanoseconds: now.nanoseconds + shift)
    let outputs = machine.handle(spoiled, now: now)
    let before = state
    note(outputs)
    return order(outputs.flatMap { spoil($0, of: input) }, of: input)
      + afterwards(input, outputs, before, now)
  }

  /// Keeps what later defects need.
  private mutating func note(_ outputs: [Output]) {
    for output in outputs {
      switch output {
      case .perform(let action): note(action)
      case .tell(.changeState(let change)): state = change.state
      case .tell, .complete: continue
      }
    }
  }

  private mutating func note(_ action: ClientAction) {
    if case .connect = action.kind { (open, heartbeats, answered) = ([], [], []) }
    guard case .sendText(let text) = action.kind,
      let value = JSONValue(parsing: Array(text.utf8)), let id = value["uniqueId"]?.integer
    else { return }
    if value["content"] == nil { heartbeats.insert(id) } else { open.append(id) }
  }

  // MARK: What goes in

  private mutating func spoil(_ input: Input) -> Input? {
    switch (defect, input) {
    case (_, .received(.text(let text))): .received(.text(spoil(incoming: text)))
    case (.bytesAreDropped, .received(.binary)): nil
    case (.cannotBeTakenBack, .called(_, .takeBack)): nil
    case (.closeLeavesTheTry, .called(_, .close)): state == .waiting ? nil : input
    case (.heartbeatsGoOnWithoutNetwork, .called(_, .setReachable)): nil
    case (.networkIsNotWaitedFor, .called(_, .setReachable(false))): nil
    case (.returnIsIgnored, .called(_, .setReachable(true))): nil
    case (.opensWithoutANetwork, .called(_, .setReachable(false))): state == .idle ? nil : input
    case (.staysGivenUp, .called(_, .setReachable(true))): state == .gaveUp ? nil : input
    case (.failedLoginsLeaveRequestsOpen, .called(_, .finishLogin(.some))): nil
    default: input
    }
  }

  /// What comes of an input that the machine does not get: a call is done all the same.
  private func skipped(_ input: Input) -> [Output] {
    guard case .called(let id, _) = input else { return [] }
    return [.complete(id, .success(.done))]
  }

  private mutating func spoil(incoming text: String) -> String {
    guard case .object(var members) = JSONValue(parsing: Array(text.utf8)),
      let place = members.firstIndex(where: { $0.key == "uniqueId" }),
      let id = members[place].value.integer
    else { return text }
    defer { answered.insert(id) }
    switch defect {
    case .objectsAreUnreadable: set("content", in: &members) { $0.text == nil ? 7 : $0 }
    case .anyContentIsGood:
      members.removeAll { $0.key == "content" }
      members.append(JSONMember("content", "{}"))
    case .errorsAreIgnored: members.removeAll { $0.key == "error" }
    case .contentWins:
      if members.contains(where: { $0.key == "content" }) {
        members.removeAll { $0.key == "error" }
      }
    case .answersAreTakenInOrder:
      guard !open.isEmpty else { return text }
      members[place].value = .number("\(open.removeFirst())")
    case .repeatedAnswersAreTold: if answered.contains(id) { members[place].value = 999 }
    case .heartbeatAnswersAreTold: if heartbeats.contains(id) { members[place].value = 999 }
    case .lateAnswersAreTold: if hasTimedOut { members[place].value = 999 }
    default: return text
    }
    return String(decoding: JSONValue.object(members).utf8, as: UTF8.self)
  }

  private func set(
    _ key: String, in members: inout [JSONMember], to change: (JSONValue) -> JSONValue
  ) {
    guard let index = members.firstIndex(where: { $0.key == key }) else { return }
    members[index].value = change(members[index].value)
  }

  // MARK: What comes out

  private mutating func spoil(_ output: Output, of input: Input) -> [Output] {
    switch output {
    case .perform(let action): return spoil(action, of: input)
    case .tell(.push): return defect == .pushesAreDropped ? [] : [output]
    case .tell(.needsLogin): return defect == .logsInForEach ? [output, output] : [output]
    case .tell(.changeState): return defect == .statesAreToldTwice ? [output, output] : [output]
    case .complete(let id, .failure(let error)): return spoil(id, error, of: input)
    case .complete: return [output]
    }
  }

  private mutating func spoil(_ action: ClientAction, of input: Input) -> [Output] {
    guard case .sendText(let text) = action.kind else { return [.perform(action)] }
    let isHeartbeat = text.contains("system/heart-beat")
    switch (defect, input) {
    case (.firstHeartbeatIsMissing, .received(.connected)): if isHeartbeat { return [] }
    case (.queueIsForgotten, .received(.connected)): if !isHeartbeat { return [] }
    case (.isNotSentAfterTheLogin, .called(_, .finishLogin)): return []
    case (.heartbeatsAreTwo, _):
      if isHeartbeat { return [.perform(action), .perform(action)] }
    default: break
    }
    return [.perform(ClientAction(action.id, .sendText(spoil(outgoing: text, isHeartbeat))))]
  }

  private func spoil(outgoing text: String, _ isHeartbeat: Bool) -> String {
    guard case .object(var members) = JSONValue(parsing: Array(text.utf8)) else { return text }
    switch defect {
    case .contentIsAnObject:
      set("content", in: &members) { JSONValue(parsing: Array(($0.text ?? "").utf8)) ?? $0 }
    case .keysAreUnordered: members.reverse()
    case .idsRepeat: set("uniqueId", in: &members) { _ in 1 }
    case .heartbeatsHaveOneID: if isHeartbeat { set("uniqueId", in: &members) { _ in 1 } }
    case .methodIsLeftOut: members.removeAll { $0.key == "method" }
    default: return text
    }
    return String(decoding: JSONValue.object(members).utf8, as: UTF8.self)
  }

  private mutating func spoil(
    _ id: CallID, _ error: RequestError, of input: Input
  ) -> [Output] {
    var error = error
    switch (defect, input) {
    case (.lateAnswersAreTold, .received(.deadline)): hasTimedOut = true
    case (.networkIsNoReason, _): if error.kind == .unreachable { error.kind = .serverConnection }
    case (.lostConnectionsLeaveRequestsOpen, .received(.closed)): return []
    case (.sendsWithoutAConnection, .called(_, .request)) where state == .idle:
      return [
        .perform(ClientAction(Self.extra, .sendText("{}"))), .complete(id, .failure(error)),
      ]
    default: break
    }
    return [.complete(id, .failure(error))]
  }

  private func order(_ outputs: [Output], of input: Input) -> [Output] {
    guard defect == .queueIsReversed, case .received(.connected) = input else { return outputs }
    return outputs.reversed()
  }

  // MARK: What the defect does of its own

  private mutating func afterwards(
    _ input: Input, _ outputs: [Output], _ before: RequestConnectionState, _ now: Timestamp
  ) -> [Output] {
    switch (defect, input) {
    case (.opensASecondConnection, .called(_, .open)) where before != .idle,
      (.returnOpensAnother, .called(_, .setReachable(true))) where before == .connecting:
      return [.perform(ClientAction(Self.extra, .connect(ConnectOptions())))]
    case (_, .called(_, .close)): isClosing = true
    case (.comesBackAfterAClose, .received(.closed)) where isClosing && state == .idle:
      isClosing = false
      return act(.open, now)
    case (.neverTriesAgain, .received(.closed)) where state == .waiting,
      (.refusalsAreFinal, .received(.closed)) where before == .connecting && state == .waiting:
      return act(.close, now)
    case (.alwaysWaitsThreeSeconds, .received(.closed)) where state == .waiting:
      // As long as the machine would wait longer, it is told that more time has passed.
      guard let deadline = machine.deadline else { return [] }
      shift += max(0, deadline.nanoseconds - now.nanoseconds - 3_000_000_000)
    case (.triesOnceMore, .received(.closed)) where state == .gaveUp: return act(.open, now)
    default: break
    }
    return []
  }

  private mutating func act(_ call: Call, _ now: Timestamp) -> [Output] {
    let outputs = machine.handle(.called(Self.madeUp, call), now: now)
    note(outputs)
    return outputs
  }
}
