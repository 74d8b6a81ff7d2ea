public import RepriseCore

/// One thing that a server can be asked for, usually a case of an enum.
///
/// ```swift
/// enum MyAPI: RequestTarget {
///   case analyze(question: String)
///
///   var service: String { "test-services/nlu/analyze" }
///   var parameters: JSONValue {
///     switch self {
///     case .analyze(let question): ["userId": 1, "robotId": "1", "question": .string(question)]
///     }
///   }
/// }
/// ```
///
/// A target knows neither host nor transport: the same one goes over a WebSocket, HTTP, a folder of
/// files or a recording.
public protocol RequestTarget: Sendable {
  /// The product that asks; nil is that of the configuration. It travels with frames only: over HTTP it is
  /// for the client's headers to say.
  var product: String? { get }
  /// The path of the service.
  var service: String { get }
  /// What is done with the service.
  var method: RequestMethod { get }
  /// The parameters, an object; anything else fails the request before it is sent.
  var parameters: JSONValue { get }
  /// How long to wait for the answer; nil is the time of the configuration.
  var timeout: Duration? { get }
  /// How often it is sent again when its connection is lost, for services that may be asked twice; nil is as
  /// often as the configuration says.
  var resendCount: Int? { get }
  /// What makes the answer's content of what came.
  var parser: RequestParser { get }
  /// What stands for the answer's content when answers are stubbed, as it would come; nil has none.
  var sampleData: [UInt8]? { get }
}

extension RequestTarget {
  /// That of the configuration, unless a target says otherwise.
  public var product: String? { nil }
  /// POST, unless a target says otherwise.
  public var method: RequestMethod { .post }
  /// None, unless a target says otherwise.
  public var parameters: JSONValue { [:] }
  /// That of the configuration, unless a target says otherwise.
  public var timeout: Duration? { nil }
  /// That of the configuration, unless a target says otherwise.
  public var resendCount: Int? { nil }
  /// JSON, unless a target says otherwise.
  public var parser: RequestParser { .json }
  /// None, unless a target says otherwise.
  public var sampleData: [UInt8]? { nil }
}

/// Any target, so that one provider serves several enums.
public struct AnyRequestTarget: RequestTarget {
  /// The target inside.
  public let target: any RequestTarget

  /// Wraps a target.
  public init(_ target: any RequestTarget) { self.target = target }

  /// The product of the target inside.
  public var product: String? { target.product }
  /// The service of the target inside.
  public var service: String { target.service }
  /// The method of the target inside.
  public var method: RequestMethod { target.method }
  /// The parameters of the target inside.
  public var parameters: JSONValue { target.parameters }
  /// The time of the target inside.
  public var timeout: Duration? { target.timeout }
  /// The count of the target inside.
  public var resendCount: Int? { target.resendCount }
  /// The parser of the target inside.
  public var parser: RequestParser { target.parser }
  /// The sample data of the target inside.
  public var sampleData: [UInt8]? { target.sampleData }
}
