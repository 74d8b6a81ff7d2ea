/// A machine that keeps the calls which are not completed yet.
protocol CallKeeper: StateMachine {
  /// A call that is not completed yet.
  associatedtype OpenCall

  /// The calls that are not completed yet.
  var calls: [CallID: OpenCall] { get set }
}

extension CallKeeper {
  /// The open calls, the earliest first.
  var openCalls: [(CallID, OpenCall)] {
    calls.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}

extension ChannelStateMachine: CallKeeper {}

extension GatewayStateMachine: CallKeeper {}
