import RepriseCore

/// What answers behind a connection to a broker, as a value without a clock and without I/O.
protocol BrokerService: Sendable {
  /// What happened.
  associatedtype Input: BrokerServiceInput

  /// What is told to it each time there is a connection, before anything else.
  static var greetings: [Input] { get }

  /// What it subscribes to; all of it has to be granted, but for ``optionalFilters``.
  var filters: [String] { get }

  /// What a broker may refuse.
  var optionalFilters: [String] { get }

  /// When it has something to say; nil is when it is asked.
  var deadline: Timestamp? { get }

  /// Takes in one thing that happened.
  /// - Parameters:
  ///   - input: What happened.
  ///   - now: When; never before the time of an earlier input.
  /// - Returns: What to do, in this order; what a cloud can do is the most.
  mutating func answer(_ input: Input, now: Timestamp) -> [CloudMachine.Output]
}

extension BrokerService {
  /// None.
  var optionalFilters: [String] { [] }
}

/// What every service can be told.
protocol BrokerServiceInput: Sendable {
  /// A message came.
  static func received(_ message: Message) -> Self
  /// Time has passed, and nothing else happened.
  static var timePassed: Self { get }
}

extension CloudMachine.Input: BrokerServiceInput {}

extension CloudMachine: BrokerService {
  static let greetings: [Input] = [.started]

  mutating func answer(_ input: Input, now: Timestamp) -> [Output] { handle(input, now: now) }
}

extension LinkServiceMachine.Input: BrokerServiceInput {}

extension LinkServiceMachine: BrokerService {
  static let greetings: [Input] = []

  var filters: [String] { LinkAddress.filters }

  mutating func answer(_ input: Input, now: Timestamp) -> [CloudMachine.Output] {
    handle(input, now: now).map { .publish($0) }
  }
}
