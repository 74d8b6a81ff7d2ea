import DeviceSDK
import RepriseCore

@testable import ConformanceKit

/// The right channel with one thing wrong, in what goes in or in what comes out.
struct WrongChannel: ChannelMachine {
  typealias Call = ChannelStateMachine.Call
  typealias Value = ChannelStateMachine.Value
  typealias Effect = ChannelStateMachine.Effect
  typealias Failure = ChannelError
  typealias Input = MachineInput<Call>
  typealias Output = MachineOutput<Value, Effect, Failure>

  enum Defect: String, CaseIterable, Sendable {
    // Topics
    case topicsAreNotCompleted, stripsInsideLevels, gatewayMessagesAreDelivered
    case emptyPayloadsAreDropped
    // Connection
    case opensASecondConnection, startIsDoneTooEarly, statesAreToldTwice, waitsNotBeforeNewTries
    case alwaysWaitsOneSecond, hammersARefusingCloud, comesBackAfterAStop, kicksAreNotNoticed
    case takesAStartWhileItStops, lossesAreTakenForKicks
    // Subscriptions
    case subscribesToNothing, subscriptionsDoNotComeBack, isConnectedBeforeTheyAreBack
    case refusedFiltersCount, unsubscribesUnderARequest
    // Requests
    case publishesBeforeTheSuback, publishIsDoneBeforeThePuback, sendsWithoutAConnection
    case neverTimesOut, takesRepliesOfAnyID, lateRepliesAreDelivered, repeatedRepliesAreDelivered
    case numericIDsAreUnknown, codesAreIgnored, errorsHaveAnotherClass
    case lostConnectionsLeaveCallsOpen, extraParametersAreLost
    // Account
    case bindingIsLostWithTheConnection, refusedTokensAreBusiness, tooManyRequestsAreFinal
    case lockIsNotWaitedFor
  }

  private static let madeUp = CallID(rawValue: .max)
  private static let extra = ClientAction.ID(rawValue: .max)

  private let defect: Defect
  private var machine: ChannelStateMachine
  private let up: String
  private let down: String
  private var connections = 0
  private var connect: ClientAction.Kind?
  private var connected: Effect?
  private var lastRequestID = "0"
  private var timedOut: Set<String> = []
  private var answered: Set<String> = []
  private var isStopping = false
  private var isBound = false
  private var lost = 0
  /// How much later than it is the machine believes it to be, in nanoseconds.
  private var shift: Int64 = 0

  init(_ machine: ChannelStateMachine, _ defect: Defect, device: String) {
    self.machine = machine
    self.defect = defect
    (up, down) = ("/sys/a1pk/\(device)/app/up", "/sys/a1pk/\(device)/app/down")
  }

  var statistics: ChannelStatistics { machine.statistics }

  var deadline: Timestamp? {
    guard defect != .neverTimesOut else { return nil }
    return machine.deadline.map { Timestamp(nanoseconds: $0.nanoseconds - shift) }
  }

  mutating func handle(_ input: Input, now: Timestamp) -> [Output] {
    guard let spoiled = spoil(input) else { return [] }
    let now = Timestamp(nanoseconds: now.nanoseconds + shift)
    let outputs = machine.handle(spoiled, now: now)
    note(outputs)
    let result = outputs.flatMap { spoil($0, of: input, now) } + afterwards(input, outputs, now)
    // What went wrong may make the machine act once more.
    note(Array(result.dropFirst(outputs.count)))
    return result
  }

  /// Keeps what later defects need.
  private mutating func note(_ outputs: [Output]) {
    for output in outputs {
      switch output {
      case .perform(let action):
        if case .connect = action.kind { connect = action.kind }
        guard case .publish(let message) = action.kind else { continue }
        lastRequestID = JSONValue(parsing: message.payload)?["id"]?.text ?? lastRequestID
      case .tell(.changeState(let change)):
        if change.state == .connected { connected = .changeState(change) }
      case .tell(.changeAccount(let state)): isBound = state == .bound
      case .tell, .complete: continue
      }
    }
  }

  // MARK: What goes in

  private mutating func spoil(_ input: Input) -> Input? {
    switch input {
    case .received(.message(let message)): spoil(message).map { .received(.message($0)) }
    case .received(.subscribed(let id, let granted)) where defect == .refusedFiltersCount:
      .received(.subscribed(id, granted.map { $0 ?? .atLeastOnce }))
    case .received(.closed(.refused)) where defect == .hammersARefusingCloud:
      .received(.closed(.refused(code: 3)))
    case .received(.closed(let reason)): spoil(reason)
    case .called(let id, let call): .called(id, spoil(call))
    case .received, .refused, .cancelled: input
    }
  }

  private mutating func spoil(_ call: Call) -> Call {
    switch (defect, call) {
    case (.extraParametersAreLost, .invoke(var request)):
      request.options = nil
      return .invoke(request)
    case (_, .stop): isStopping = true
    default: break
    }
    return call
  }

  private mutating func spoil(_ reason: ClientEvent.Closed) -> Input {
    // After a minute without one, kicks are counted anew.
    if defect == .kicksAreNotNoticed { shift += 61_000_000_000 }
    lost += 1
    if defect == .lossesAreTakenForKicks, case .lost(let text) = reason {
      return .received(.closed(.byServer(code: nil, text)))
    }
    return .received(.closed(reason))
  }

  private mutating func spoil(_ message: Message) -> Message? {
    var message = message
    switch defect {
    case .stripsInsideLevels:
      let rest = message.topic.dropFirst(down.count)
      if message.topic.hasPrefix(down), rest.first != "/" { message.topic = "\(down)/\(rest)" }
    case .gatewayMessagesAreDelivered:
      if !message.topic.hasPrefix("/sys/a1pk/") { message.topic = down + message.topic }
    case .emptyPayloadsAreDropped:
      if message.payload.isEmpty { return nil }
    case .takesRepliesOfAnyID: replace("id", in: &message) { _ in .string(lastRequestID) }
    case .lateRepliesAreDelivered: makeUnknown(&message, if: timedOut)
    case .repeatedRepliesAreDelivered:
      let id = JSONValue(parsing: message.payload)?["id"]?.text
      makeUnknown(&message, if: answered)
      if let id { answered.insert(id) }
    case .numericIDsAreUnknown:
      replace("id", in: &message) { if case .number = $0 { "none" } else { $0 } }
    case .codesAreIgnored: replace("code", in: &message) { _ in 200 }
    case .refusedTokensAreBusiness: replace("code", in: &message, from: ["2043", "2401"])
    case .tooManyRequestsAreFinal: replace("code", in: &message, from: ["429"])
    case .lockIsNotWaitedFor: replace("code", in: &message, from: ["2152"])
    default: break
    }
    return message
  }

  private func makeUnknown(_ message: inout Message, if ids: Set<String>) {
    replace("id", in: &message) { id in ids.contains(id.text ?? "") ? "none" : id }
  }

  /// Makes some codes one that the channel knows nothing of.
  private func replace(_ key: String, in message: inout Message, from codes: Set<String>) {
    replace(key, in: &message) { code in
      let digits = code.text ?? code.integer.map(String.init) ?? ""
      return codes.contains(digits) ? 999 : code
    }
  }

  private func replace(
    _ key: String, in message: inout Message, by change: (JSONValue) -> JSONValue
  ) {
    guard message.topic.hasSuffix("_reply"),
      case .object(var members) = JSONValue(parsing: message.payload),
      let index = members.firstIndex(where: { $0.key == key })
    else { return }
    members[index].value = change(members[index].value)
    message.payload = JSONValue.object(members).utf8
  }

  // MARK: What comes out

  private mutating func spoil(_ output: Output, of input: Input, _ now: Timestamp) -> [Output] {
    switch output {
    case .perform(let action): spoil(action, of: input, now)
    case .tell(.changeState(let change)):
      defect == .statesAreToldTwice ? [output, .tell(.changeState(change))] : [output]
    case .tell: [output]
    case .complete(let id, .failure(let error)): spoil(id, error, of: input)
    case .complete: [output]
    }
  }

  private mutating func spoil(
    _ action: ClientAction, of input: Input, _ now: Timestamp
  ) -> [Output] {
    let output = Output.perform(action)
    switch (defect, action.kind) {
    case (.topicsAreNotCompleted, .publish(var message)):
      if message.topic.hasPrefix(up) { message.topic.removeFirst(up.count) }
      return [.perform(ClientAction(action.id, .publish(message)))]
    case (.subscribesToNothing, .subscribe(let wanted)) where wanted.first?.filter == down + "/#":
      return []
    case (.subscriptionsDoNotComeBack, .subscribe(let wanted)):
      guard case .received(.connected) = input, lost > 0 else { return [output] }
      return answer(.subscribed(action.id, wanted.map { $0.qos }), now)
    case (.publishesBeforeTheSuback, .subscribe(let wanted)):
      guard case .called(_, .invoke) = input else { return [output] }
      return [output] + answer(.subscribed(action.id, wanted.map { $0.qos }), now)
    case (.publishIsDoneBeforeThePuback, .publish):
      return [output] + answer(.published(action.id), now)
    default: return [output]
    }
  }

  /// Lets the machine have an event that did not happen.
  private mutating func answer(_ event: ClientEvent, _ now: Timestamp) -> [Output] {
    machine.handle(.received(event), now: now)
  }

  private mutating func spoil(
    _ id: CallID, _ error: ChannelError, of input: Input
  ) -> [Output] {
    var error = error
    switch (defect, input) {
    case (.lateRepliesAreDelivered, .received(.deadline)):
      timedOut.formUnion((0...99).map(String.init))
    case (.errorsHaveAnotherClass, _): if error.kind == .business { error.kind = .gateway }
    case (.lostConnectionsLeaveCallsOpen, .received(.closed)): return []
    case (.takesAStartWhileItStops, .called(_, .start)): return [.complete(id, .success(.done))]
    case (.sendsWithoutAConnection, .called(_, .publish)) where connections == 0:
      let message = Message(topic: up + "/a", payload: [])
      return [.perform(ClientAction(Self.extra, .publish(message)))]
    default: break
    }
    return [.complete(id, .failure(error))]
  }

  /// What the defect does of its own.
  private mutating func afterwards(
    _ input: Input, _ outputs: [Output], _ now: Timestamp
  ) -> [Output] {
    switch (defect, input) {
    case (_, .received(.connected)):
      connections += 1
      guard defect == .isConnectedBeforeTheyAreBack, connections > 1, let connected else {
        return []
      }
      return [.tell(connected)]
    case (.opensASecondConnection, .called(_, .start)):
      guard outputs.isEmpty, let connect else { return [] }
      return [.perform(ClientAction(Self.extra, connect))]
    case (.startIsDoneTooEarly, .called(let id, .start)): return [.complete(id, .success(.done))]
    case (.waitsNotBeforeNewTries, .received(.closed)):
      guard let deadline = machine.deadline else { return [] }
      return machine.handle(.received(.deadline), now: deadline)
    case (.alwaysWaitsOneSecond, .received(.closed)):
      // As long as the machine would wait longer, it is told that more time has passed.
      guard let deadline = machine.deadline else { return [] }
      shift += max(0, deadline.nanoseconds - now.nanoseconds - 1_000_000_000)
      return []
    case (.comesBackAfterAStop, .received(.closed)):
      guard isStopping else { return [] }
      isStopping = false
      return machine.handle(.called(Self.madeUp, .start), now: now)
    case (.unsubscribesUnderARequest, .called(_, .unsubscribe)):
      guard outputs.isEmpty else { return [] }
      return [.perform(ClientAction(Self.extra, .unsubscribe([down + "/#"])))]
    case (.bindingIsLostWithTheConnection, .received(.closed)):
      return isBound ? [.tell(.changeAccount(.unbound))] : []
    default: return []
    }
  }
}
