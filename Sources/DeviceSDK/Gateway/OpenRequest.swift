import RepriseCore

/// Names a request of the gateway from its start to its end.
struct RequestID: Sendable, Hashable {
  let rawValue: UInt64
}

/// A request of the gateway that is not done yet.
struct OpenRequest {
  /// What its reply is for.
  enum Purpose {
    /// The application, which gets the reply as it is.
    case call(CallID)
    /// The topology: for the application, if it asked, and for lines that have not changed since.
    case topology(CallID?, unchanged: [Subdevice: Int])
    /// One of the requests that make up a call.
    case part(CallID, index: Int)
    case operation(OperationID)
    /// Taking a sub-device offline whose line was closed; nobody waits for the reply.
    case departure(Subdevice)
  }

  /// Which answers it outlives.
  enum Persistence {
    /// None: every answer is the caller's.
    case none
    /// Codes that may pass.
    case codes
    /// Codes that may pass, and silence.
    case codesAndSilence
  }

  let topic: String
  let envelope: GatewayEnvelope
  var params: JSONValue
  let qos: QoS
  /// The sub-devices that it is about; none when it is about the gateway.
  var subdevices: [Subdevice]
  let purpose: Purpose
  var persistence: Persistence
  let timeout: Duration
  var phase = RequestPhase.subscribing
  /// How many tries there were before this one.
  var attempt = 0
  /// Whether a try before had no answer, so that the cloud may have done what it asked for.
  var mayHaveBeenDone = false

  var replyTopic: String { topic + "_reply" }

  /// Whether it takes a sub-device offline whose line was closed.
  var isDeparture: Bool {
    if case .departure = purpose { true } else { false }
  }

  /// Whether it waits for its reply.
  var isSent: Bool {
    if case .waiting = phase { true } else { false }
  }
}
