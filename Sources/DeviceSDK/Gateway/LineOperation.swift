import RepriseCore

/// Names an operation from its start to its end.
struct OperationID: Sendable, Hashable {
  let rawValue: UInt64
}

/// What the application can have done with lines.
package enum LineCall: String, Sendable, Hashable, CaseIterable {
  /// Make the sub-devices the gateway's.
  case addTopology
  /// Make them the gateway's no longer.
  case deleteTopology
  /// Bring them online.
  case logIn
  /// Take them offline.
  case logOut

  /// Whether the sub-devices have to show their signatures.
  var needsSignature: Bool { self == .addTopology || self == .logIn }

  /// What it does to a line when the cloud has said yes.
  var event: LineEvent {
    switch self {
    case .addTopology: .topologyAdded
    case .deleteTopology: .topologyDeleted
    case .logIn: .loggedIn
    case .logOut: .loggedOut
    }
  }

  /// How many sub-devices one request may hold.
  func limit(_ limits: GatewayConfiguration.Limits) -> Int {
    switch self {
    case .addTopology, .deleteTopology: limits.topologyPerRequest
    case .logIn, .logOut: limits.loginsPerRequest
    }
  }
}

/// Something that is done with one line, or with several at once.
///
/// Operations on a line are done one after the other; the same one twice in a row is one.
struct LineOperation {
  enum Phase: Hashable {
    /// Others come first.
    case queued
    /// It waits, so that there are not too many logins in a minute.
    case pacing
    /// The sub-devices behind these connections have not said yet who they are.
    case opening(Set<ConnectionID>)
    case requesting(RequestID)
    /// The cloud has said yes; the lines' subscriptions are on their way.
    case subscribing(ClientAction.ID, [String], GatewayReply)
  }

  let kind: LineCall
  /// The sub-devices that it is done with and whose lines are there still.
  var subdevices: [Subdevice]
  let isBatch: Bool
  let isAutomatic: Bool
  var waiters: [CallID]
  var phase = Phase.queued
  /// The sub-devices whose lines were closed after their login had gone to the cloud.
  var departed: [Subdevice] = []
  /// Those who have waited for a sub-device that it was not done with, and what they are told in the end.
  var bereft: [CallID] = []
  private(set) var error: GatewayError?

  /// It is not done with one of its sub-devices, for all that wait until now.
  mutating func bereave(_ error: GatewayError) {
    self.error = self.error ?? error
    bereft += waiters
    waiters = []
  }

  /// Whether it is its turn and nothing was sent yet, so that the cloud does not know if it is dropped.
  var isUnsent: Bool {
    switch phase {
    case .pacing, .opening: true
    case .queued, .requesting, .subscribing: false
    }
  }
}
