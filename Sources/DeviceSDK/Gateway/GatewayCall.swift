package import RepriseCore

extension GatewayStateMachine {
  /// What the application can ask for.
  package enum Call: Sendable {
    /// Open the connection, and keep it open; completed when it is.
    case start
    /// Close the connection; completed when it is.
    case stop
    /// Say whether there is a network.
    case setReachable(Bool)
    /// Make a line for the sub-device behind a connection; completed with its name.
    case setUp(ConnectionID)
    /// Say that the sub-device behind a connection can be asked, and what it said; or why it can't.
    case noteOpened(ConnectionID, Result<SubdeviceInfo, GatewayError>)
    /// Forget a line and the way to its sub-device.
    case remove(Subdevice)
    /// Do the same with one or several sub-devices; several share requests.
    case operate(LineCall, [Subdevice], isBatch: Bool)
    /// Ask for the gateway's topology; completed with the sub-devices.
    case topology
    /// Say that these were found, so that the cloud may ask to add them.
    case reportFound([Subdevice])
    /// Have sub-devices registered; completed with what the cloud made of them.
    case register([SubdeviceRegistration])
    /// Have sub-devices unregistered.
    case unregister([Subdevice])
    /// Send a request and wait for its reply.
    case invoke(Invocation)
    /// Send parameters; completed when the receiver has them, at QoS 0 when they are written.
    case publish(FullTopic, method: String?, JSONValue, isRetained: Bool = false)
    /// Send bytes as they are; completed as parameters are.
    case upload(FullTopic, [UInt8], QoS, isRetained: Bool = false)
    /// Find out where the cloud retains messages on topics that a filter matches; completed with the topics.
    case findRetained(FullTopic)
    /// Ask for messages, for a line or for the gateway; completed when they are granted.
    case subscribe(FullTopic, for: Subdevice?)
    /// Ask no longer for messages; completed when that is acknowledged.
    case unsubscribe(FullTopic, for: Subdevice?)
    /// Answer a command; completed as parameters are.
    case answer(GatewayCommand, code: Int, message: String?, JSONValue)
  }

  /// A request with what is to be known of its reply.
  package struct Invocation: Sendable {
    /// The topic of the request; the reply comes on the same with `_reply`.
    package var topic: FullTopic
    /// The method; nil takes the one that belongs to the topic, if one does.
    package var method: String?
    /// The parameters.
    package var params: JSONValue
    /// The sub-device that it is for; nil when it is the gateway's own.
    package var subdevice: Subdevice?
    /// How long to wait for the reply; nil takes the configuration's time.
    package var timeout: Duration?

    /// Creates a request.
    /// - Parameters:
    ///   - topic: The topic of the request.
    ///   - method: The method; nil takes the one that belongs to the topic.
    ///   - params: The parameters.
    ///   - subdevice: The sub-device that it is for.
    ///   - timeout: How long to wait for the reply.
    package init(
      _ topic: FullTopic, method: String? = nil, params: JSONValue, for subdevice: Subdevice? = nil,
      timeout: Duration? = nil
    ) {
      self.topic = topic
      self.method = method
      self.params = params
      self.subdevice = subdevice
      self.timeout = timeout
    }
  }

  /// What a call results in.
  package enum Value: Sendable, Hashable {
    /// It is done.
    case done
    /// It is done, and was answered.
    case reply(GatewayReply)
    /// It is done, and the cloud answered each of the requests that it took; none when nothing was left to do.
    case replies([GatewayReply])
    /// There is a line for this sub-device.
    case line(Subdevice)
    /// These are the gateway's sub-devices.
    case subdevices([Subdevice])
    /// These are the topics that were looked for.
    case topics([String])
    /// This is what the cloud made of registrations.
    case registered([RegisteredSubdevice])
  }

  /// What the application is told without having asked.
  package enum Effect: Sendable, CloudEffect {
    /// Give a message to the listeners of the gateway or of a line.
    case deliver(GatewayMessage)
    /// Give a command to whoever answers for the sub-device.
    case command(GatewayCommand)
    /// Tell what the cloud says of sub-devices.
    case notice(GatewayNotice)
    /// The connection's state is another.
    case changeState(GatewayStateChange)
    /// A line is another.
    case changeLine(LineChange)
    /// Open the way to a sub-device unless it is open, ask who it is, and say so.
    case openConnection(ConnectionID)
    /// Opening takes too long, or nobody waits for it any more.
    case giveUpOpening(ConnectionID)
    /// Forget the way to a sub-device: its line was removed, or another way has taken its place.
    case forgetConnection(ConnectionID)
    /// Write an entry into the log.
    case log(DeviceLog.Entry)
  }
}

/// A call of the application that is not completed yet.
extension GatewayStateMachine {
  enum OpenCall {
    case starting
    case stopping
    case settingUp(ConnectionID)
    case publishing
    case subscribing(Subscribing)
    case unsubscribing
    /// Completed by the answer to the UNSUBSCRIBE behind its SUBSCRIBE.
    case sweeping
    case requesting(RequestID)
    /// Several requests or operations; completed when all are.
    case parts(Parts)
  }

  /// A subscription that is not granted yet.
  struct Subscribing {
    let filter: String
    let owner: GatewayOwner
    /// Whether its owner has unsubscribed since: nothing comes of its grant.
    var isWithdrawn = false
  }

  /// What was made of a call that takes several requests or operations.
  struct Parts {
    var left: Int
    var error: GatewayError?
    /// Whether the replies tell what came of registrations.
    var registers = false
    /// What the cloud has answered, by the number of the request.
    var replies: [Int: GatewayReply] = [:]

    var value: Value {
      let replies = replies.sorted { $0.key < $1.key }.map(\.value)
      return registers
        ? .registered(replies.flatMap(GatewayStateMachine.registered)) : .replies(replies)
    }
  }
}
