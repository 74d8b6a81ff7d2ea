import DeviceSDK
import RepriseCore

@testable import ConformanceKit

/// The right gateway with one thing wrong, in what goes in or in what comes out.
struct WrongGateway: GatewayMachine {
  typealias Call = GatewayStateMachine.Call
  typealias Value = GatewayStateMachine.Value
  typealias Effect = GatewayStateMachine.Effect
  typealias Failure = GatewayError
  typealias Input = MachineInput<Call>
  typealias Output = MachineOutput<Value, Effect, Failure>

  enum Defect: String, CaseIterable, Sendable {
    // Connection
    case opensASecondConnection, listensToNothing, sendsWithoutAConnection
    case alwaysWaitsOneSecond, hammersARefusingCloud, kicksAreNotNoticed
    // Sub-devices
    case opensNobody, neverGivesUpOpening, oldConnectionsAreKept, signaturesAreNotPassedOn
    case takesAnotherDevice, errorsHaveAnotherClass
    // Topology and sessions
    case sessionsAreSentWithReceipts, topologyKeyIsTheLogins, missingTopologyIsBusiness
    case deletedTopologyStays, changesAreNotAnswered, wishesAreAnsweredByAnotherID
    case enableAndDisableAreSwapped, onlyTheFirstOfSeveral, everyLoginIsSent
    case commandsAreNotSubscribed
    // Requests
    case publishesBeforeTheSuback, numericIDsAreUnknown, textCodesAreUnknown, emptyDataIsData
    case neverTimesOut, lateRepliesAreDelivered, repeatedRepliesAreDelivered, codesAreIgnored
    case throttledAreFinal, faultsAreFinal, repeatsPosts, refusedFiltersCount
    // Messages and errors of sessions
    case errorsOfSessionsMatchNothing, errorsOfSessionsMatchAnybody, errorsOfSessionsAreNotTold
    case linesGetEverything, ownAnswersAreDelivered, commandsAreLost, answersHaveTextIDs
    case disablingIsNotAnswered
    // Losses
    case linesStayOnline, nobodyComesBack, isConnectedBeforeTheyAreBack
    case waitsForEverToBeConnected, kickedComeBack, stopForgetsNothing
    case lostConnectionsLeaveCallsOpen, topologyIsNotAskedFor
  }

  static let extra = ClientAction.ID(rawValue: .max)
  static let madeUp = CallID(rawValue: .max - 1)

  let defect: Defect
  var machine: GatewayStateMachine
  var notes = Notes()

  /// What later defects need.
  struct Notes {
    var connect: ClientAction.Kind?
    var connected: Effect?
    var posts: [ClientAction.Kind] = []
    var online: Set<Subdevice> = []
    var answered: Set<String> = []
    var timedOut = false
    var connections = 0
    /// How much later than it is the machine believes it to be, in nanoseconds.
    var shift: Int64 = 0
  }

  init(_ machine: GatewayStateMachine, _ defect: Defect) {
    self.machine = machine
    self.defect = defect
  }

  var statistics: GatewayStatistics { machine.statistics }
  var subdevices: [Subdevice] { machine.subdevices }

  func lineState(of subdevice: Subdevice) -> LineState? {
    let state = machine.lineState(of: subdevice)
    return defect == .linesStayOnline && notes.online.contains(subdevice) ? .online : state
  }

  var deadline: Timestamp? {
    guard defect != .neverTimesOut else { return nil }
    return machine.deadline.map { Timestamp(nanoseconds: $0.nanoseconds - notes.shift) }
  }

  mutating func handle(_ input: Input, now: Timestamp) -> [Output] {
    guard let spoiled = spoil(input) else { return [] }
    let now = Timestamp(nanoseconds: now.nanoseconds + notes.shift)
    let outputs = machine.handle(spoiled, now: now)
    note(outputs, input)
    return outputs.flatMap { spoil($0, of: input, now) } + afterwards(input, outputs, now)
  }

  private mutating func note(_ outputs: [Output], _ input: Input) {
    if case .received(.connected) = input { notes.connections += 1 }
    for output in outputs {
      switch output {
      case .perform(let action):
        if case .connect = action.kind { notes.connect = action.kind }
        if case .publish(let message) = action.kind, message.topic.hasSuffix("/post") {
          notes.posts.append(action.kind)
        }
      case .tell(.changeState(let change)):
        if change.state == .connected { notes.connected = .changeState(change) }
      case .tell(.changeLine(let change)):
        if change.state == .online { notes.online.insert(change.subdevice) }
      case .complete(_, .failure(let error)):
        if error.kind == .gateway, case .received(.deadline) = input { notes.timedOut = true }
      case .tell, .complete: continue
      }
    }
  }

  // MARK: What goes in

  private mutating func spoil(_ input: Input) -> Input? {
    switch input {
    case .received(.message(let message)): return spoil(message).map { .received(.message($0)) }
    case .received(.subscribed(let id, let granted)) where defect == .refusedFiltersCount:
      return .received(.subscribed(id, granted.map { $0 ?? .atLeastOnce }))
    case .received(.closed(.refused)) where defect == .hammersARefusingCloud:
      return .received(.closed(.refused(code: 3)))
    case .received(.closed):
      // After a minute without one, kicks are counted anew.
      if defect == .kicksAreNotNoticed { notes.shift += 61_000_000_000 }
      return input
    case .called(let id, let call): return .called(id, spoil(call))
    case .received, .refused, .cancelled: return input
    }
  }

  private func spoil(_ call: Call) -> Call {
    switch (defect, call) {
    case (.takesAnotherDevice, .noteOpened(let id, .success(let info))):
      // As if it had said what it said before.
      guard let known = machine.subdevices.first, known != info.subdevice,
        let same = try? SubdeviceInfo(
          productKey: known.productKey, deviceName: known.deviceName, clientID: info.clientID,
          sign: info.sign, signMethod: info.signMethod)
      else { return call }
      return .noteOpened(id, .success(same))
    case (.signaturesAreNotPassedOn, .noteOpened(let id, .success(let info))):
      guard
        let hidden = try? SubdeviceInfo(
          productKey: info.subdevice.productKey, deviceName: info.subdevice.deviceName,
          clientID: info.clientID, sign: "-", signMethod: info.signMethod)
      else { return call }
      return .noteOpened(id, .success(hidden))
    case (.onlyTheFirstOfSeveral, .operate(let kind, let subdevices, true)):
      return .operate(kind, Array(subdevices.prefix(1)), isBatch: true)
    default: return call
    }
  }

  private mutating func spoil(_ message: Message) -> Message? {
    var message = message
    let isSessionError = message.topic.hasPrefix("/ext/error/")
    switch defect {
    case .numericIDsAreUnknown:
      replace("id", in: &message) { if case .number = $0 { "none" } else { $0 } }
    case .textCodesAreUnknown:
      replace("code", in: &message) { if case .string = $0 { 999 } else { $0 } }
    case .emptyDataIsData: replace("data", in: &message) { $0 == "" || $0 == .null ? "-" : $0 }
    case .codesAreIgnored: replace("code", in: &message) { _ in 200 }
    case .throttledAreFinal: replace("code", in: &message) { $0 == 429 ? 999 : $0 }
    case .faultsAreFinal: replace("code", in: &message) { $0 == 500 ? 999 : $0 }
    case .missingTopologyIsBusiness: replace("code", in: &message) { $0 == 6401 ? 999 : $0 }
    case .lateRepliesAreDelivered:
      if notes.timedOut { replace("id", in: &message) { _ in "none" } }
    case .repeatedRepliesAreDelivered:
      let id = JSONValue(parsing: message.payload)?["id"]?.text ?? ""
      if !notes.answered.insert(id).inserted { replace("id", in: &message) { _ in "none" } }
    case .errorsOfSessionsMatchNothing:
      if isSessionError { replace("id", in: &message) { _ in "none" } }
    case .errorsOfSessionsMatchAnybody:
      if isSessionError { replace("data", in: &message) { _ in [:] } }
    case .errorsOfSessionsAreNotTold: if isSessionError { return nil }
    case .commandsAreLost: if message.topic.contains("/service/") { return nil }
    case .ownAnswersAreDelivered:
      if message.topic.hasSuffix("/set_reply") {
        message.topic = message.topic.replacing("set_reply", with: "set")
      }
    case .enableAndDisableAreSwapped:
      replace("params", in: &message) { params in
        switch params["status"] {
        case 2: ["status": 8, "subList": params["subList"] ?? []]
        case 8: ["status": 2, "subList": params["subList"] ?? []]
        default: params
        }
      }
    default: break
    }
    return message
  }

  private func replace(
    _ key: String, in message: inout Message, by change: (JSONValue) -> JSONValue
  ) {
    guard case .object(var members) = JSONValue(parsing: message.payload),
      let index = members.firstIndex(where: { $0.key == key })
    else { return }
    members[index].value = change(members[index].value)
    message.payload = JSONValue.object(members).utf8
  }
}
